/** Names of units that are not base units, or abbreviated: as parts of a name. */
const ABBREVIATIONS = 's ms us ns sec b kb mb gb tb pb m h d'.split(' ');
const BASE_UNITS = 'amperes bytes celsius grams joules kelvin meters metres seconds volts'.split(' ');
const PREFIXES =
  'pico nano micro milli centi deci deca deka hecto kilo kibi mega mebi giga gibi tera tebi peta pebi'.split(' ');
const OTHER_UNITS = new Set([
  ...BASE_UNITS.flatMap((unit) => PREFIXES.map((prefix) => prefix + unit)),
  ...'minutes hours days weeks kelvins fahrenheit rankine inches yards miles bits calories pounds ounces'.split(' '),
]);
const TYPES = ['counter', 'gauge', 'summary', 'histogram'];

/** What `promtool check metrics` complains of in a text of metrics: the same rules, for machines that do not have it. */
export function metricMistakes(text: string): string[] {
  const lines = text.split('\n');
  const told = (word: string): Map<string, string> =>
    new Map(lines.filter((line) => line.startsWith(`# ${word} `)).map((line) => restOf(line, word)));
  const [types, helps] = [told('TYPE'), told('HELP')];
  const mistakes: string[] = [];
  for (const [name, type] of types) {
    const parts = name.toLowerCase().split('_');
    const check = (isWrong: boolean, what: string): unknown => isWrong && mistakes.push(`${name} (${type}): ${what}`);
    check(!helps.get(name), 'no help text');
    check(type === 'counter' && !name.endsWith('_total'), 'a counter must end with "_total"');
    check(type !== 'counter' && name.endsWith('_total'), 'only a counter may end with "_total"');
    check(
      !/^(?:histogram|summary)$/.test(type) && /_(?:bucket|count|sum)$/.test(name),
      'ends as a part of a histogram',
    );
    check(name.includes(':'), 'colons are for recording rules');
    check(/[a-z][A-Z]/.test(name), 'camelCase');
    for (const part of parts.slice(1)) check(TYPES.includes(part), `names its type, ${part}`);
    for (const part of parts) check(OTHER_UNITS.has(part), `${part} is no base unit`);
    for (const part of parts) check(ABBREVIATIONS.includes(part), `${part} is an abbreviated unit`);
  }
  for (const line of lines) {
    const name = /^(\w+)(?:\{(.*)\})? /.exec(line);
    if (line.startsWith('#') || name === null) continue;
    const metric = name[1]!.replace(/_(?:bucket|count|sum)$/, (end) => (types.has(name[1]!) ? end : ''));
    if (!types.has(metric)) mistakes.push(`${line}: no TYPE`);
    for (const [, label] of (name[2] ?? '').matchAll(/(\w+)="/g))
      if ((label === 'le' && types.get(metric) !== 'histogram') || /[a-z][A-Z]/.test(label!))
        mistakes.push(`${line}: label ${label}`);
  }
  return mistakes;
}

function restOf(line: string, word: string): [string, string] {
  const rest = line.slice(word.length + 3);
  const at = rest.indexOf(' ');
  return at < 0 ? [rest, ''] : [rest.slice(0, at), rest.slice(at + 1)];
}
