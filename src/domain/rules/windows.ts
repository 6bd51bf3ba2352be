import { evaluateSeries } from '../history/evaluate-series.ts';
import { ofField } from '../history/of-field.ts';
import type { FieldColumns } from '../history/field-columns.ts';
import type { FieldInfo } from '../ingest-cache/ingest-cache.ts';
import type { SeriesView } from '../ports/series-request.ts';
import type { StoredValue } from '../ports/store.ts';
import { conditionsOf, type RuleDefinition, type Threshold } from './definition.ts';

/** A condition with a window, and its place among the conditions of the rule. */
interface WindowCondition {
  index: number;
  field: number;
  window: NonNullable<Threshold['window']>;
}

/** The conditions of a rule that have a window. */
export function windowsOf(definition: Pick<RuleDefinition, 'levels'>): WindowCondition[] {
  return conditionsOf(definition).flatMap((condition, index) =>
    condition.kind === 'threshold' && condition.window !== null
      ? [{ index, field: condition.field, window: condition.window }]
      : [],
  );
}

/** The range of a window whose last value is at `time`: from (inclusive) to (exclusive), and its view. */
export function windowView({ aggregation, seconds }: WindowCondition['window'], time: number) {
  const [from, to] = [time + 1 - seconds * 1_000, time + 1];
  const edges = Float64Array.of(from, to);
  const view: SeriesView = { kind: 'buckets', edges, aggregation, fill: 'NULL', rawUpTo: -1, heldTo: to };
  return { from, to, view };
}

/** Slides a window over the values of a field, as `history` would aggregate it; call it with rising indexes. */
export class SlidingWindow {
  readonly #field: FieldInfo;
  readonly #columns: FieldColumns;
  readonly #window: WindowCondition['window'];
  #start = 0;

  constructor(field: FieldInfo, columns: FieldColumns, window: WindowCondition['window']) {
    this.#field = field;
    this.#columns = columns;
    this.#window = window;
  }

  /** The aggregation of the window that ends with the value of that index, and the number of values in it. */
  at(index: number): { value: StoredValue | null; count: number } {
    const { timestamps, values, before } = this.#columns;
    const { from, to, view } = windowView(this.#window, timestamps[index]!);
    while (timestamps[this.#start]! < from) this.#start += 1;
    const start = this.#start;
    const momentAt = (at: number) => (at < 0 ? null : { timestamp: timestamps[at]!, value: values[at]! });
    const columns = {
      timestamps: timestamps.subarray(start, index + 1),
      values: values instanceof Float64Array ? values.subarray(start, index + 1) : values.slice(start, index + 1),
    };
    const count = index + 1 - start;
    const segment = { firstAt: timestamps[start]!, lastAt: timestamps[index]!, count, summary: null, columns };
    const request = { deviceKey: 0, ...ofField(this.#field), from, to, maxCharacters: Infinity, views: [view] };
    const beyond = { earlier: start === 1 ? before : momentAt(start - 2), next: null };
    const [answer] = evaluateSeries(request, [segment], momentAt(start - 1) ?? before, beyond).views;
    return { value: valueOf(answer), count };
  }
}

/** The value of a window's only bucket; null: none. */
export function valueOf(answer: unknown): StoredValue | null {
  const value = (answer as { values: ArrayLike<StoredValue | null> }).values[0];
  return value == null || Number.isNaN(value) ? null : value;
}
