import { isAlias, isNode, LineCounter, parseDocument, stringify, visit } from 'yaml';

/** Maximum levels of a text: a reader of YAML calls itself for each. */
const MAX_LEVELS = 100;

/** Tags of what JSON has, too. */
const TAGS: ReadonlySet<string> = new Set(
  ['map', 'seq', 'str', 'int', 'float', 'bool', 'null'].map((kind) => `tag:yaml.org,2002:${kind}`),
);

/** A mistake in a text, for those who wrote it. */
export class YamlMistake extends Error {}

/** The JSON text of a YAML text; throws YamlMistake with line and column. */
export function jsonOfYaml(text: string): string {
  const lines = new LineCounter();
  const at = (offset: number | undefined, message: string): YamlMistake => {
    const { line, col } = lines.linePos(offset ?? 0);
    return new YamlMistake(`line ${line}, column ${col}: ${message}`);
  };
  const document = parseDocument(text, {
    version: '1.2',
    schema: 'core',
    prettyErrors: false,
    uniqueKeys: true,
    merge: false,
    lineCounter: lines,
  });
  const [mistake] = [...document.errors, ...document.warnings];
  if (mistake !== undefined)
    throw at(mistake.pos[0], /call stack/.test(mistake.message) ? 'nested too deep.' : mistake.message);
  visit(document, {
    Node(_, node, path) {
      if (isAlias(node) || node.anchor !== undefined)
        throw at(node.range?.[0], 'anchors and aliases are not read; write it out.');
      if (node.tag !== undefined && !TAGS.has(node.tag))
        throw at(node.range?.[0], `the tag ${node.tag} is not read; leave it out.`);
      if (path.length > 2 * MAX_LEVELS) throw at(node.range?.[0], `nested deeper than ${MAX_LEVELS} levels.`);
    },
    Pair(_, { key }) {
      if (!isNode(key) || typeof (key as { value?: unknown }).value !== 'string')
        throw at(isNode(key) ? key.range?.[0] : undefined, 'a key must be a text; write it in quotes.');
    },
    Scalar(_, { value, range }) {
      if (typeof value === 'number' && !Number.isFinite(value)) throw at(range?.[0], 'expected a finite number.');
      if (typeof value === 'bigint') throw at(range?.[0], 'the number is too large.');
    },
  });
  return JSON.stringify(document.toJS({ maxAliasCount: 0 }) ?? null);
}

/** The YAML text of a JSON value. Words that older readers take for true and false are in quotes. */
export function yamlOf(value: unknown): string {
  return stringify(value, { version: '1.2', compat: 'yaml-1.1', lineWidth: 0, aliasDuplicateObjects: false });
}
