import type { OtherSeries } from '../../chart/other-series.ts';
import type { Reference } from '../../chart/references.ts';
import type { DeviceField } from './device.graphql.ts';
import type { LiveValues } from './live-values.ts';
import type { FieldValues } from './use-charts.ts';
import type { ShownRange } from './use-range.ts';

/** What all cards of fields on a device page share. */
export interface CardSurroundings {
  /** All fields of the product. */
  fields: readonly DeviceField[];
  range: ShownRange;
  live: LiveValues;
  /** Times (Unix seconds) of notes. */
  marked: readonly number[];
  /** The time (ms) before which values are no longer kept; null: all are kept. */
  keptFrom: number | null;
  /** Lines of the rules that watch a field; a range in ms. */
  linesOf: (identifier: string, range: { from: number; to: number }) => Reference[];
}

/** The properties of the card of an open field. */
export interface FieldCardProps extends CardSurroundings {
  field: DeviceField;
  /** null: not fetched yet. */
  values: FieldValues | null;
  others: readonly OtherSeries[];
  /** The field that its chart also shows; null: none. */
  paired: string | null;
  onPair: (identifier: string | null) => void;
  onFold: () => void;
}
