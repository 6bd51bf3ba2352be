import { badInput } from '../../errors.ts';
import type { Access } from '../access/access.ts';
import {
  type ByValue,
  type Candidate,
  type FieldChoice,
  sortedText,
  type ValueCondition,
  type ValueLook,
} from '../devices/value-look.ts';
import type { History, LatestWanted, MeasuredValue } from '../history/history.ts';
import type { FieldInfo, IngestCache, ProductInfo } from '../ingest-cache/ingest-cache.ts';
import { noField, seenProduct } from '../ingest-cache/seen-fields.ts';
import type { StoredValue } from '../ports/store.ts';
import { checkCondition } from '../rules/check-condition.ts';
import { isMet } from '../rules/conditions.ts';
import type { Condition } from '../rules/definition.ts';

/** Devices per look-up. */
const AT_ONCE = 1_000;
/** Percent of a battery below which it is low, unless its field says so itself. */
const LOW_PERCENT = 20;

/** The look of one product's devices. */
interface Look {
  product: ProductInfo;
  conditions: { field: FieldInfo; condition: Condition }[];
  battery: FieldInfo | null;
  /** The value below which the battery is low; null: it never is. */
  low: number | null;
  order: FieldInfo | null;
  /** Identifiers of the fields to read. */
  fields: string[];
}

interface DevicesByValueDeps {
  ingestCache: Pick<IngestCache, 'product'>;
  history: Pick<History, 'latestOfMany'>;
}

/** Finds devices by their newest values. */
export class DevicesByValue implements ValueLook {
  readonly #deps: DevicesByValueDeps;

  constructor(deps: DevicesByValueDeps) {
    this.#deps = deps;
  }

  async find(
    access: Access,
    candidates: readonly Candidate[],
    by: ByValue,
    { isField, spend }: { isField: (identifier: string) => Promise<boolean>; spend: (ms: number) => void },
  ): Promise<Candidate[]> {
    const looks = await this.#looks(access, candidates, by, isField);
    const some = candidates.filter(({ product_id: id }) => looks.has(id));
    const found: Candidate[] = [];
    for (let at = 0; at < some.length; at += AT_ONCE) {
      const rows = some.slice(at, at + AT_ONCE);
      const wanted = rows.map(({ key, workspace_id: workspaceId, product_id: id }): LatestWanted => {
        const { product, fields } = looks.get(id) as Look;
        return { device: { key, workspaceId, product }, fields };
      });
      const latest = await this.#deps.history.latestOfMany(wanted, spend);
      rows.forEach((row, index) => {
        const values = latest[index];
        if (values instanceof Error) throw values;
        const judged = judge(looks.get(row.product_id) as Look, values ?? [], by);
        if (judged !== null) found.push(by.order === null ? row : { ...row, sorted_by: judged });
      });
    }
    return found;
  }

  /** The look at each product whose devices may match, by its id. */
  async #looks(
    access: Access,
    candidates: readonly Candidate[],
    { conditions, lowBattery, order }: ByValue,
    isField: (identifier: string) => Promise<boolean>,
  ): Promise<Map<string, Look>> {
    const looks = new Map<string, Look>();
    const known = new Set<string>();
    const mistakes = new Map<number, Error | null>();
    for (const id of new Set(candidates.map(({ product_id }) => product_id))) {
      const found = await this.#deps.ingestCache.product(id);
      if (found === null) continue;
      const product = seenProduct(access, found);
      const fieldOf = (choice: FieldChoice): FieldInfo | null => {
        const field = fieldIn(product, choice);
        if (field !== null && choice.field != null) known.add(choice.field);
        return field;
      };
      const checked = conditions.map((given, at) => {
        const field = fieldOf(given);
        if (field === null) return null;
        try {
          const condition = conditionOn(field, given, `values[${at}]`);
          mistakes.set(at, null);
          return { field, condition };
        } catch (error) {
          if (!mistakes.has(at)) mistakes.set(at, error as Error);
          return null;
        }
      });
      const sorted = order === null ? null : fieldOf(order);
      const battery = lowBattery === null ? null : fieldIn(product, { role: 'BATTERY' });
      const met = checked.filter((one) => one !== null);
      if (met.length < checked.length || (lowBattery === true && battery === null)) continue;
      const fields = [...met.map(({ field }) => field), sorted, battery].flatMap((field) => field?.identifier ?? []);
      looks.set(id, {
        product,
        conditions: met,
        battery,
        low: lowOf(battery),
        order: sorted,
        fields: [...new Set(fields)],
      });
    }
    for (const mistake of mistakes.values()) if (mistake !== null) throw mistake;
    for (const { field } of order === null ? conditions : [...conditions, order])
      if (field != null && !known.has(field) && !(access.coversField(field) && (await isField(field))))
        throw badInput(noField(access, field));
    return looks;
  }
}

function fieldIn({ fields }: ProductInfo, { field, role }: FieldChoice): FieldInfo | null {
  if (field != null) return fields.get(field) ?? null;
  for (const one of fields.values()) if (one.role === role) return one;
  return null;
}

function conditionOn(field: FieldInfo, { operator, value }: ValueCondition, path: string): Condition {
  return checkCondition({ field: field.identifier, operator, value }, { fields: [field], configuration: [] }, path);
}

/** The text of the value to sort by; null: the device does not match. */
function judge(look: Look, latest: readonly MeasuredValue[], { lowBattery }: ByValue): string | null {
  const values: Record<number, StoredValue> = {};
  for (const { field, value } of latest) values[field.key] = typeof value === 'boolean' ? Number(value) : value;
  const areMet = look.conditions.every(({ condition }) =>
    isMet(condition, false, { values, configuration: {} }, undefined, undefined),
  );
  if (!areMet) return null;
  if (lowBattery !== null && isLow(look, values) !== lowBattery) return null;
  return sortedText(look.order === null ? undefined : values[look.order.key]);
}

function lowOf(battery: FieldInfo | null): number | null {
  const display = battery?.display == null ? {} : (JSON.parse(battery.display) as { low?: number });
  return display.low ?? (battery?.unit === '%' ? LOW_PERCENT : null);
}

function isLow({ battery, low }: Look, values: Readonly<Record<number, StoredValue>>): boolean {
  const value = battery === null ? undefined : values[battery.key];
  return low !== null && typeof value === 'number' && value < low;
}
