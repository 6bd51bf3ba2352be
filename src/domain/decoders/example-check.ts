import { badInput } from '../../errors.ts';
import { sortedJson } from '../text/json-text.ts';
import type { RawEntry } from './decoder-output.ts';

const MAX_EXPECTED = 1_000;
const COMPARED = ['device', 'field', 'value', 'timestamp'];

/** The expected entries of an example: `{device?, field, value, timestamp?}`; BAD_USER_INPUT naming `path` for anything else. */
export function readExpected(expected: unknown, path = 'expected'): Record<string, unknown>[] {
  const list: unknown[] = Array.isArray(expected) ? expected : [expected];
  if (list.length > MAX_EXPECTED) throw badInput(`${path}: at most ${MAX_EXPECTED} entries.`);
  return list.map((entry, index) => {
    if (
      typeof entry !== 'object' ||
      entry === null ||
      Array.isArray(entry) ||
      typeof (entry as { field?: unknown }).field !== 'string'
    )
      throw badInput(`${path}[${index}]: must be an object {device, field, value, timestamp?}.`);
    const unknown = Object.keys(entry).find((key) => !COMPARED.includes(key));
    if (unknown !== undefined)
      throw badInput(`${path}[${index}].${unknown.slice(0, 50)}: unknown; there are ${COMPARED.join(', ')}.`);
    return entry as Record<string, unknown>;
  });
}

/**
 * The first difference between the expected and the actual entries, as one sentence; null: none. Same number, same
 * order. Devices compare as text; properties that an expected entry leaves out are not compared.
 */
export function differenceOf(expected: Record<string, unknown>[], came: RawEntry[]): string | null {
  for (let at = 0; at < Math.max(expected.length, came.length); at += 1) {
    const wanted = expected[at];
    const entry = came[at]?.shown;
    if (wanted === undefined) return `entry ${at} was not expected: ${shown(entry)}`;
    if (entry === undefined) return `entry ${at} is missing: expected ${shown(wanted)}`;
    const got = (typeof entry === 'object' && entry !== null ? entry : {}) as Record<string, unknown>;
    for (const key of COMPARED) {
      if (wanted[key] === undefined || wanted[key] === null) continue;
      const same =
        key === 'device'
          ? textOf(wanted[key]) === textOf(got[key])
          : JSON.stringify(sortedJson(wanted[key])) === JSON.stringify(sortedJson(got[key]));
      if (!same) return `entry ${at}: expected ${key} ${shown(wanted[key])}, got ${shown(got[key])}`;
    }
  }
  return null;
}

/** Reads a number that was given for a serial number as its text. */
function textOf(value: unknown): unknown {
  return typeof value === 'number' ? String(value) : value;
}

function shown(value: unknown): string {
  return value === undefined ? 'nothing' : (JSON.stringify(value) ?? 'nothing').slice(0, 500);
}
