import type { DataOf } from '../../api/operation.ts';
import type { ReplayCalls, StoredValues } from './calls.graphql.ts';

type ReplayResults = DataOf<typeof ReplayCalls>['replayCalls']['results'];
type Stored = DataOf<typeof StoredValues>['history'];

/** Effect of a replay on one value. `unknown`: the stored value could not be read. */
type ReplayKind = 'new' | 'replaced' | 'unchanged' | 'refused' | 'unknown';

/** One entry of a dry run beside the stored value. */
export interface ReplayRow {
  kind: ReplayKind;
  device: string;
  field: string;
  /** Time in milliseconds; null for a rejected entry. */
  at: number | null;
  value: unknown;
  /** The stored value with the same key; null: none. */
  before: unknown;
  /** Reason of the rejection. */
  message: string | null;
}

/** The stored values that a comparison needs; null: none. */
export function storedWanted(
  results: ReplayResults,
): { deviceIds: string[]; fields: string[]; from: string; to: string } | null {
  const accepted = results.flatMap(({ run }) => run.entries).filter((entry) => entry.code === null);
  const times = accepted.map(({ timestamp }) => Date.parse(timestamp ?? '')).filter((ms) => !Number.isNaN(ms));
  if (times.length === 0) return null;
  const [from, last] = times.reduce(
    ([low, high], ms) => [Math.min(low, ms), Math.max(high, ms)],
    [Infinity, -Infinity],
  );
  return {
    deviceIds: unique(accepted.map(({ matchedDevice }) => matchedDevice?.id)),
    fields: unique(accepted.map(({ matchedField }) => matchedField?.identifier)),
    from: new Date(from!).toISOString(),
    to: new Date(last! + 1).toISOString(),
  };
}

/** Compares the entries of a dry run with stored values; `stored` null: they could not be read. */
export function compareReplay(results: ReplayResults, stored: Stored | null): ReplayRow[] {
  const known = new Map<string, unknown>();
  const cut = new Set<string>();
  for (const { device, series } of stored ?? [])
    for (const { field, timestamps, values, truncated } of series) {
      if (truncated) cut.add(`${device.id} ${field.identifier}`);
      timestamps.forEach((seconds, at) =>
        known.set(`${device.id} ${field.identifier} ${Math.round(seconds * 1_000)}`, values[at]),
      );
    }
  return results.flatMap(({ run }) =>
    run.entries.map((entry): ReplayRow => {
      const { matchedDevice, matchedField, timestamp, value, code } = entry;
      const shown = {
        device: matchedDevice?.name ?? entry.device ?? '',
        field: matchedField?.identifier ?? entry.field ?? '',
        at: timestamp === null ? null : Date.parse(timestamp),
        value,
      };
      if (code !== null) return { ...shown, kind: 'refused', before: null, message: entry.message ?? code };
      const series = `${matchedDevice?.id} ${matchedField?.identifier}`;
      const key = `${series} ${shown.at}`;
      const before = known.get(key) ?? null;
      // Later calls of the replay find this value.
      known.set(key, value);
      const isKnown = stored !== null && (before !== null || !cut.has(series));
      const kind = !isKnown ? 'unknown' : before === null ? 'new' : isSame(before, value) ? 'unchanged' : 'replaced';
      return { ...shown, kind, before, message: null };
    }),
  );
}

/** True when a value as it was sent equals the stored one, which the server converted to the field's type. */
function isSame(stored: unknown, sent: unknown): boolean {
  const plain = plainOf(sent);
  if (typeof stored === 'number') return plain !== '' && Number(plain) === stored;
  if (typeof stored === 'boolean') return /^(?:true|1)$/i.test(String(plain)) === stored;
  return JSON.stringify(plainOf(stored)) === JSON.stringify(plain) || String(stored) === textOf(plain);
}

function plainOf(sent: unknown): unknown {
  if (typeof sent !== 'object' || sent === null) return sent;
  const { value, latitude, longitude } = sent as Record<string, unknown>;
  if (latitude !== undefined && longitude !== undefined)
    return `(${JSON.stringify(latitude)},${JSON.stringify(longitude)})`;
  return value === undefined ? sent : plainOf(value);
}

function textOf(plain: unknown): string {
  return typeof plain === 'string' ? plain : JSON.stringify(plain);
}

function unique(texts: (string | undefined)[]): string[] {
  return [...new Set(texts.filter((text) => text !== undefined))];
}
