import type { DeviceInfo } from '../ingest-cache/ingest-cache.ts';
import type { RecordedEvent } from '../live/recorded-event.ts';
import type { FieldType } from '../entities/field.ts';
import type { StoredValue } from '../ports/store.ts';
import type { QuietRange } from '../rules/quiet-range.ts';
import type { RuleJudge } from '../rules/rule-judge.ts';

/** The judges of a device: all, and those that want to hear of a field. */
interface Judges {
  byField: ReadonlyMap<number, readonly RuleJudge[]>;
  ofSilence: readonly RuleJudge[];
}

const NONE: QuietRange = { above: Infinity, below: -Infinity };
/** Numbers that a field may have by its type. */
const RANGES: Readonly<Record<FieldType, QuietRange>> = {
  FLOAT: { above: -Infinity, below: Infinity },
  INTEGER: { above: -Infinity, below: Infinity },
  BOOLEAN: { above: -1, below: 2 },
  STRING: NONE,
  GEOLOCATION: NONE,
};

/** The numbers of a field that change nothing, and what came last. */
interface OfField {
  judges: readonly RuleJudge[];
  above: number;
  below: number;
  isWhole: boolean;
  /** Times in ms UTC. */
  measuredAt: number;
  receivedAt: number;
  value: number;
  isNew: boolean;
}

/**
 * The numbers of a device that change no state: most of all that come. They are compared with a range for each field and
 * told to the judges when those are asked next.
 */
export class QuietValues {
  readonly #fields = new Map<number, OfField>();
  readonly #ofSilence: readonly RuleJudge[];
  #heardAt = -Infinity;

  constructor({ product }: Pick<DeviceInfo, 'product'>, { byField, ofSilence }: Judges) {
    this.#ofSilence = ofSilence;
    for (const [key, judges] of byField) {
      const type = product.fieldsByKey.get(key)?.type;
      // A field that is gone is judged by nobody.
      if (type !== undefined) this.#fields.set(key, ofField(key, type, judges));
    }
  }

  /** Notes the values of the event if none of them changes a state; else false, and they are to be judged. */
  takes(event: RecordedEvent): boolean {
    if (this.#ofSilence.some(({ isSilent }) => isSilent)) return false;
    for (const [place, value] of event.values.entries()) {
      const field = this.#fields.get(event.fieldKeys[place]!);
      if (field !== undefined && !isQuiet(field, value, event.timestamps[place]!)) return false;
    }
    this.#note(event);
    return true;
  }

  #note({ fieldKeys, values, timestamps, receivedAt }: RecordedEvent): void {
    this.#heardAt = Math.max(this.#heardAt, receivedAt);
    for (const [place, value] of values.entries()) {
      const field = this.#fields.get(fieldKeys[place]!);
      const measuredAt = timestamps[place]!;
      if (field === undefined || measuredAt < field.measuredAt) continue;
      field.measuredAt = measuredAt;
      field.receivedAt = receivedAt;
      field.value = value as number;
      field.isNew = true;
    }
  }

  /** Tells the judges what came since. */
  settle(): void {
    if (this.#heardAt === -Infinity) return;
    for (const judge of this.#ofSilence) judge.heard(this.#heardAt);
    this.#heardAt = -Infinity;
    for (const [field, of] of this.#fields) {
      if (!of.isNew) continue;
      of.isNew = false;
      for (const judge of of.judges) judge.quiet({ field, ...of });
    }
  }
}

function ofField(key: number, type: FieldType, judges: readonly RuleJudge[]): OfField {
  let { above, below } = RANGES[type];
  let measuredAt = -Infinity;
  for (const judge of judges) {
    const range = judge.quietRange(key) ?? NONE;
    above = Math.max(above, range.above);
    below = Math.min(below, range.below);
    measuredAt = Math.max(measuredAt, judge.state.judgedAt[key] ?? -Infinity);
  }
  const isWhole = type === 'INTEGER' || type === 'BOOLEAN';
  return { judges, above, below, isWhole, measuredAt, receivedAt: -Infinity, value: 0, isNew: false };
}

function isQuiet({ above, below, isWhole, measuredAt }: OfField, value: StoredValue, at: number): boolean {
  if (typeof value !== 'number' || value <= above || value >= below || at < measuredAt) return false;
  return !isWhole || Number.isInteger(value);
}
