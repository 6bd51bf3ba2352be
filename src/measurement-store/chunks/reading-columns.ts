import type { SegmentColumns } from '../../domain/measurements/segment.ts';
import type { StoredValue } from '../../domain/ports/store.ts';
import { eachValue } from '../readings/reading-values.ts';
import { toColumns } from './columns.ts';
import type { ReadingRow } from './snapshot.ts';

/** The values of all fields in readings that are in time order, by field. */
export function allColumns(readings: ReadingRow[]): Map<number, SegmentColumns> {
  const fields = new Map<number, { timestamps: number[]; values: StoredValue[] }>();
  for (const { timestamp, values } of readings)
    eachValue(values, (fieldKey, value) => {
      let field = fields.get(fieldKey);
      if (!field) fields.set(fieldKey, (field = { timestamps: [], values: [] }));
      // The same field twice in one reading: the last one counts.
      if (field.timestamps.at(-1) === timestamp) field.values[field.values.length - 1] = value;
      else {
        field.timestamps.push(timestamp);
        field.values.push(value);
      }
    });
  return new Map([...fields].map(([key, { timestamps, values }]) => [key, toColumns(timestamps, values)]));
}
