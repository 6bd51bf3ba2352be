import type { Chance } from './chance.ts';

const BEGINS = [
  '', 'a=', '[', '{"a":"', '{"a":[', '{"coreid":"', '{"coreid":"x","data":"', '{"end_device_ids":{"dev_eui":"', '{"deviceInfo":{"devEui":"', '{"DevEUI_uplink":{"DevEUI":"',
  '{"query":"', '{"query":"{ __typename }","variables":{"a":[', '{"query":"{ __typename ', 'device,field,timestamp,value\n', '{"field":"temperature","value":"',
]; // oxfmt-ignore
const PIECES = [
  'a&', '&', 'a=1&', '%', '%41', '+', '=', ' ', '\n', '\t', '\0', ',', ';', ':', '"', '\\', "'", '\\u0000', '[', '{', '{}', '[]', '{},', '1', '1,', '0.', '-', 'e', '"a",',
  '{"a":1},', '{"field":"x","value":1},', '#\\n', '#\n', '\u00a0', 'ü', '\ud800', '…', '_', '.', '/', '<', '(', '1,2,3,4\n', '"\n', 'a{b}', '...a ', '@skip(if:true)', '$', '!',
]; // oxfmt-ignore
const ENDS = ['', 'x', '"}', '"}}', ']}', ']}}', ']', '}"}', '&=', '\n'];
const TYPES = [
  'application/json',
  'application/x-www-form-urlencoded',
  'text/csv',
  'application/x-ndjson',
  'text/plain',
  '',
];
/** As much as any door takes, and some have much smaller bounds. */
const MOST = 1_000_000;

/** One small piece again and again: of what takes the square of its length, nothing else shows so much. */
export function mass(chance: Chance): { body: string; type: string; text: string } {
  const [begin, piece, end] = [chance.pick(BEGINS), chance.pick(PIECES), chance.pick(ENDS)];
  const length = MOST >> chance.int(8);
  const type = chance.pick(TYPES);
  const text = `${type}: ${JSON.stringify(begin)} ${JSON.stringify(piece)} up to ${length} ${JSON.stringify(end)}`;
  return { body: begin + piece.repeat(length / piece.length) + end, type, text };
}
