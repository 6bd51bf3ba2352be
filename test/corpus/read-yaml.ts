/**
 * The part of YAML that lorawan-devices is written in: mappings and lists by indentation, lists and mappings in
 * brackets (over several lines too), plain and quoted scalars, `|` and `>` texts. No anchors, no tags.
 */
export function readYaml(text: string): unknown {
  const lines = text
    .split(/\r?\n/)
    .map((line) => line.replace(/\t/g, '  '))
    .filter((line) => !/^\s*(?:#|---|$)/.test(line));
  return new YamlReader(lines).block(0);
}

class YamlReader {
  readonly #lines: string[];
  #at = 0;

  constructor(lines: string[]) {
    this.#lines = lines;
  }

  block(indent: number): unknown {
    const first = this.#lines[this.#at];
    if (first === undefined || indentOf(first) < indent) return null;
    return /^\s*-(?:\s|$)/.test(first) ? this.#list(indentOf(first)) : this.#mapping(indentOf(first));
  }

  #list(indent: number): unknown[] {
    const list: unknown[] = [];
    for (let line = this.#lines[this.#at]; line !== undefined; line = this.#lines[this.#at]) {
      if (indentOf(line) !== indent || !/^\s*-(?:\s|$)/.test(line)) break;
      const rest = line.slice(indent + 1);
      if (rest.trim() === '') {
        this.#at += 1;
        list.push(this.block(indent + 1));
      } else if (/^\s*(?:"[^"]*"|'[^']*'|[^\s"'[{#][^#]*?):(?:\s|$)/.test(rest)) {
        // A mapping that begins behind the dash: read on as if the dash were a blank.
        this.#lines[this.#at] = `${' '.repeat(indent + 1)}${rest}`;
        list.push(this.block(indent + 1));
      } else {
        this.#at += 1;
        list.push(this.#value(rest, indent));
      }
    }
    return list;
  }

  #mapping(indent: number): Record<string, unknown> {
    const mapping: Record<string, unknown> = {};
    for (let line = this.#lines[this.#at]; line !== undefined; line = this.#lines[this.#at]) {
      if (indentOf(line) !== indent) break;
      const match = /^\s*("[^"]*"|'[^']*'|[^\s"'[{][^:]*?)\s*:(?:\s+(.*))?$/.exec(line);
      if (match === null) break;
      this.#at += 1;
      const key = String(scalar(match[1]!));
      const rest = (match[2] ?? '').replace(/^#.*/, '').trim();
      if (rest !== '') mapping[key] = this.#value(rest, indent);
      else {
        const next = this.#lines[this.#at];
        const isList = next !== undefined && /^\s*-(?:\s|$)/.test(next);
        mapping[key] = this.block(isList ? indent : indent + 1);
      }
    }
    return mapping;
  }

  #value(text: string, indent: number): unknown {
    const start = text.trim();
    if (/^[|>]/.test(start)) return this.#folded(indent);
    if (!/^[[{]/.test(start)) return scalar(start);
    let flow = start;
    // Brackets may close lines later.
    while (!closes(flow) && this.#at < this.#lines.length) flow += ` ${this.#lines[this.#at++]!.trim()}`;
    return new FlowReader(flow).value();
  }

  #folded(indent: number): string {
    const parts: string[] = [];
    while (this.#at < this.#lines.length && indentOf(this.#lines[this.#at]!) > indent)
      parts.push(this.#lines[this.#at++]!.trim());
    return parts.join('\n');
  }
}

class FlowReader {
  readonly #tokens: string[];
  #at = 0;

  constructor(text: string) {
    this.#tokens =
      text.match(
        /"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[[\]{},]|:(?=\s|["'[{]|$)|(?:[^\s,:[\]{}]|:(?!\s))+(?:\s+(?!#)[^\s,:[\]{}]+)*/g,
      ) ?? [];
  }

  value(): unknown {
    const token = this.#tokens[this.#at++];
    if (token === '[') {
      const list: unknown[] = [];
      while (this.#at < this.#tokens.length && this.#tokens[this.#at] !== ']') {
        list.push(this.value());
        if (this.#tokens[this.#at] === ',') this.#at += 1;
      }
      this.#at += 1;
      return list;
    }
    if (token !== '{') return scalar(token ?? '');
    const mapping: Record<string, unknown> = {};
    while (this.#at < this.#tokens.length && this.#tokens[this.#at] !== '}') {
      const key = String(scalar(this.#tokens[this.#at++]!));
      if (this.#tokens[this.#at] === ':') this.#at += 1;
      mapping[key] = this.value();
      if (this.#tokens[this.#at] === ',') this.#at += 1;
    }
    this.#at += 1;
    return mapping;
  }
}

function closes(flow: string): boolean {
  const bare = flow.replace(/"(?:[^"\\]|\\.)*"|'[^']*'/g, '');
  return (bare.match(/[[{]/g) ?? []).length <= (bare.match(/[\]}]/g) ?? []).length;
}

function scalar(text: string): unknown {
  const bare = text.trim();
  if (bare.startsWith('"')) return JSON.parse(bare.slice(0, bare.lastIndexOf('"') + 1)) as string;
  if (bare.startsWith("'")) return bare.slice(1, bare.lastIndexOf("'")).replaceAll("''", "'");
  const plain = bare.replace(/\s+#.*$/, '');
  if (/^(?:true|True)$/.test(plain)) return true;
  if (/^(?:false|False)$/.test(plain)) return false;
  if (plain === '' || plain === 'null' || plain === '~') return null;
  if (/^0x[0-9a-f]+$/i.test(plain) || /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i.test(plain)) return Number(plain);
  return plain;
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}
