import { t } from '../../texts/texts.ts';
/** The part that a column of a file plays: a role of a line, a field by its identifier, or `` where it is left out. */
export type ColumnUse = string;

/** Roles of a line, with their words. */
export const ROLES = [
  { role: 'timestamp', text: t('Time') },
  { role: 'device', text: t('Device') },
  { role: 'field', text: t('Name of the field') },
  { role: 'value', text: t('Value') },
] as const;

/** The heading of the reasons in a file of refused lines, which is left out when that is imported. */
export const REASON = 'refused because';

const TIMES =
  /^(?:timestamp|time|date|datetime|ts|utc|epoch|unixtime|zeit|zeitstempel|datum|uhrzeit|last_changed|_time)$|time|date|zeit|datum/i;
const DEVICES =
  /^(?:device|device[_ ]?(?:id|name)|serial|serial[_ ]?number|sensor|sensor[_ ]?id|entity_id|host|dev[_ ]?eui|eui|gerät|seriennummer)$/i;
const FIELDS = /^(?:field|_field|metric|measurement|key|channel|variable)$/i;
const VALUES = /^(?:value|_value|val|state|reading|wert)$/i;

interface Guessed {
  headings: readonly string[];
  /** Cells of the first lines, by column. */
  cellsOf: (column: number) => readonly string[];
  /** Identifiers and names of the fields that may be meant. */
  fields: readonly { identifier: string; name: string | null }[];
  /** True when the lines name their devices. */
  hasDevice: boolean;
}

/** The probable use of each column, in the order of the headings. */
export function guessColumns({ headings, cellsOf, fields, hasDevice }: Guessed): ColumnUse[] {
  const exact = headings.findIndex((heading) => /^timestamp$/i.test(heading));
  const byName = headings.findIndex((heading) => TIMES.test(heading));
  const byCells = headings.findIndex((_, column) => looksLikeTimes(cellsOf(column)));
  const timestamp = exact >= 0 ? exact : byName >= 0 ? byName : byCells;
  const device = headings.findIndex((heading, at) => at !== timestamp && DEVICES.test(heading));
  const field = headings.findIndex((heading) => FIELDS.test(heading));
  const value = headings.findIndex((heading) => VALUES.test(heading));
  const isLong = field >= 0 && value >= 0 && fieldOf('field', fields) === '';
  return headings.map((heading, at) => {
    if (at === timestamp) return 'timestamp';
    if (at === device) return hasDevice ? 'device' : '';
    if (isLong) return at === field ? 'field' : at === value ? 'value' : '';
    return heading === REASON ? '' : fieldOf(heading, fields);
  });
}

/** The identifier of the field that a heading names; the empty text: none. */
function fieldOf(heading: string, fields: Guessed['fields']): string {
  const exact = fields.find(({ identifier }) => identifier === heading);
  const letters = lettersOf(heading);
  const near = fields.find(
    ({ identifier, name }) =>
      letters !== '' && (lettersOf(identifier) === letters || lettersOf(name ?? '') === letters),
  );
  return (exact ?? near)?.identifier ?? '';
}

/** An identifier that a new field may have by a heading such as `Temp, °C`; the unit that stands in it. */
export function newFieldOf(heading: string): { identifier: string; name: string | null; unit: string | null } {
  const [, words = heading, unit = null] =
    /^(.*?)[\s,]*[([]?\s*(°C|°F|%|[kM]?Wh?|k?V|m?A|hPa|k?Pa|m³|l\/h|lx|ppm|dBm?|Hz|mm|km\/h|m\/s)\s*[)\]]?$/u.exec(
      heading,
    ) ?? [];
  const plain = words.normalize('NFKD').replace(/\p{M}/gu, '').replaceAll('ß', 'ss');
  const identifier = plain
    .replace(/[^A-Za-z0-9_-]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, 64);
  const name = words.trim();
  return { identifier, name: name === identifier || name === '' ? null : name, unit };
}

/** The type that takes every cell: a number, a whole number is one too; `on` and `off`; else a text. */
export function typeOf(cells: readonly string[]): 'FLOAT' | 'BOOLEAN' | 'STRING' {
  const given = cells.filter((cell) => cell.trim() !== '');
  if (given.length === 0) return 'FLOAT';
  if (given.every((cell) => /^\s*[+-]?\d*[.,]?\d+(?:e[+-]?\d+)?\s*$/i.test(cell))) return 'FLOAT';
  return given.every((cell) => /^\s*(?:true|false|on|off|open|closed|yes|no)\s*$/i.test(cell)) ? 'BOOLEAN' : 'STRING';
}

function looksLikeTimes(cells: readonly string[]): boolean {
  const given = cells.filter((cell) => cell.trim() !== '');
  return (
    given.length > 0 &&
    given.every((cell) => /^\s*(?:\d{4}-\d\d-\d\d|\d{4}\d\d\d\dT|1\d{9}(?:\d{3})?(?:\.\d*)?\s*$)/.test(cell))
  );
}

function lettersOf(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}
