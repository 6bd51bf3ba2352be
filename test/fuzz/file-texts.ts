import type { Chance } from './chance.ts';

const FIELDS = ['temperature', 'count', 'open', 'note', 'place', 'value'];
const VALUES = ['1', '-2.5e3', '7i', '9223372036854775807i', 't', 'F', '"a \\"b\\", c"', '"', 'NaN', '1e999', ''];

const KEYS = ['fields', 'from', 'to', 'layout', 'tag', 'product', 'resolution', 'maxPoints', 'timeZone', 'precision'];
const KNOWN = ['1h', '2020-01-01', '2030-01-01', 'wide', 'Asia/Kathmandu', '8640000000000000', 's', 'ms'];

/** A query of a path that takes or gives files. */
export function fileQuery(chance: Chance): string {
  const value = (): string => (chance.of(0.5) ? chance.pick(KNOWN) : chance.text());
  return Array.from({ length: chance.int(4) }, () => `${chance.pick(KEYS)}=${value()}`).join('&');
}

/** Text of a file of that content type, or of InfluxDB's line protocol (`text/plain`). */
export function fileText(chance: Chance, type: 'text/csv' | 'application/x-ndjson' | 'text/plain'): string {
  const lines = (make: () => string): string[] => Array.from({ length: chance.int(5) }, make);
  if (type === 'text/plain') {
    const text = lines(() => protocolLine(chance)).join(chance.pick(['\n', '\n', '\r\n', '\n\n']));
    return chance.of(0.3) ? chance.mutated(text) : text;
  }
  if (type === 'application/x-ndjson') return lines(() => chance.jsonText()).join('\n');
  const row = (): string =>
    chance.of(0.5) ? `serial-1,temperature,${chance.number()},${chance.number()}` : chance.text();
  return [chance.of(0.9) ? 'device,field,timestamp,value' : chance.text(), ...lines(row)].join('\n');
}

function protocolLine(chance: Chance): string {
  if (chance.of(0.1)) return chance.text();
  const any = (known: readonly string[]): string => (chance.of(0.8) ? chance.pick(known) : chance.text());
  const tags = Array.from(
    { length: chance.int(3) },
    () => `,${any(['host', 'room', 'measurement'])}=${any(['a', 'b\\ c'])}`,
  );
  const fields = Array.from({ length: 1 + chance.int(4) }, () => `${any(FIELDS)}=${any(VALUES)}`);
  const time = chance.of(0.5) ? '' : ` ${any(['1700000000', '1700000000123456789', '-1', String(chance.number())])}`;
  return `${any(['env', 'temperature'])},device=${any(['serial-1'])}${tags.join('')} ${fields.join(',')}${time}`;
}
