import { PointBudget } from '../history/point-budget.ts';
import type { FieldColumns } from '../history/field-columns.ts';
import type { History } from '../history/history.ts';
import type { DeviceInfo, FieldInfo } from '../ingest-cache/ingest-cache.ts';
import { ofField } from '../history/of-field.ts';
import type { MeasurementStore, StoredValue } from '../ports/store.ts';
import { conditionsOf, fieldsOf, type RuleDefinition } from '../rules/definition.ts';
import { valueOf, windowsOf, windowView } from '../rules/windows.ts';

/** Maximum values of a field by which a device is judged again. */
const MOST_AGAIN = 100_000;
const DAY_MS = 86_400_000;

interface Read {
  from: number;
  to: number;
  /** Key of a field → its values. */
  columns: ReadonlyMap<number, FieldColumns>;
}

interface Sources {
  history: Pick<History, 'columns'>;
  store: Pick<MeasurementStore, 'lastHeard' | 'series'>;
}

/** The stored values of a device for all rules that it is judged by: read once for all of them. */
export class StoredValues {
  readonly #sources: Sources;
  readonly #info: DeviceInfo;
  readonly #rules: readonly { definition: RuleDefinition }[];
  #read: Read | null = null;
  #heard: Promise<Map<number, number>> | null = null;

  constructor(sources: Sources, info: DeviceInfo, rules: readonly { definition: RuleDefinition }[]) {
    this.#sources = sources;
    this.#info = info;
    this.#rules = rules;
  }

  /** The fields of a rule with their values from `from` (ms UTC; for windows earlier ones) to `to`; null: too many. */
  async of(
    { definition }: { definition: RuleDefinition },
    { from, to }: { from: number; to: number },
  ): Promise<{ fields: FieldInfo[]; columns: FieldColumns[] } | null> {
    const fields = this.#fields(fieldsOf(definition));
    const start = from - leadOf(definition);
    const shared = await this.#shared(start, to);
    const known = fields.map(({ key }) => shared?.get(key));
    if (known.every((one) => one !== undefined)) return { fields, columns: known };
    const columns = await this.#columns(fields, start, to);
    return columns.some(({ truncated }) => truncated) ? null : { fields, columns };
  }

  /** Receipt time by which the device was last heard; undefined: never. */
  async heard(): Promise<number | undefined> {
    this.#heard ??= this.#sources.store.lastHeard([this.#info.key]);
    return (await this.#heard).get(this.#info.key);
  }

  /** Index of each condition with a window → its aggregation at a measured time. */
  async windowsAt(windows: ReturnType<typeof windowsOf>, time: number): Promise<Record<number, StoredValue | null>> {
    const found: Record<number, StoredValue | null> = {};
    for (const { index, field: key, window } of windows) {
      const field = this.#info.product.fieldsByKey.get(key)!;
      const { from, to, view } = windowView(window, time);
      const request = {
        deviceKey: this.#info.key,
        ...ofField(field),
        from,
        to,
        maxCharacters: 1_000_000,
        views: [view],
      };
      let answer;
      do [answer] = await this.#sources.store.series([request]);
      while (answer === undefined);
      found[index] = valueOf(answer.views[0]);
    }
    return found;
  }

  /** Forgets what was read. */
  forget(): void {
    this.#read = null;
  }

  /** The columns of all rules at once, as far back as any of them needs; without those of too many values. */
  async #shared(start: number, to: number): Promise<ReadonlyMap<number, FieldColumns> | null> {
    if (this.#rules.length < 2) return null;
    if (this.#read?.to === to) return this.#read.from <= start ? this.#read.columns : null;
    // The values behind what was just recorded begin at one place for all.
    const from = to === Number.MAX_SAFE_INTEGER ? start : to - this.#longest;
    const fields = this.#fields(new Set(this.#rules.flatMap(({ definition }) => [...fieldsOf(definition)])));
    const columns = await this.#columns(fields, Math.min(from, start), to);
    const whole = columns.flatMap((one, at) => (one.truncated ? [] : [[fields[at]!.key, one] as const]));
    this.#read = { from: Math.min(from, start), to, columns: new Map(whole) };
    return this.#read.columns;
  }

  get #longest(): number {
    return Math.max(...this.#rules.map(({ definition }) => backOf(definition) + leadOf(definition)));
  }

  #fields(keys: ReadonlySet<number>): FieldInfo[] {
    return [...this.#info.product.fieldsByKey.values()].filter(({ key }) => keys.has(key));
  }

  #columns(fields: readonly FieldInfo[], from: number, to: number): Promise<FieldColumns[]> {
    return this.#sources.history.columns(this.#info, fields, { from, to, limit: MOST_AGAIN }, new PointBudget());
  }
}

/** How far back a rule is judged again, in ms: as far as its durations need, a day at least. */
export function backOf(definition: RuleDefinition): number {
  const { forSeconds, clearForSeconds } = definition;
  const silences = conditionsOf(definition).map((one) => (one.kind === 'absent' ? one.seconds : 0));
  return Math.max(DAY_MS, ...[2 * (forSeconds + clearForSeconds), ...silences].map((seconds) => seconds * 1_000));
}

function leadOf(definition: RuleDefinition): number {
  return Math.max(0, ...windowsOf(definition).map(({ window }) => window.seconds * 1_000));
}
