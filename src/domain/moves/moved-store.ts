import type { SeriesAnswer, SeriesRequest } from '../ports/series-request.ts';
import type {
  CallCount,
  CallOutcome,
  CallQuery,
  CallRow,
  Columns,
  DeviceKeys,
  KnownValues,
  LatestQuery,
  LatestRow,
  MeasurementStore,
  Piece,
  Place,
  RangeQuery,
  Receipt,
  RecordedPage,
  RecordedQuery,
  RecordedReading,
  RemoveQuery,
  Rewrite,
} from '../ports/store.ts';
import type { MovedKeys, StoredKeys } from './stored-keys.ts';
import { must } from '../../must.ts';

/**
 * The store as the domain knows it: the values of a moved device are found under the fields of its product, wherever they
 * were recorded (`StoredKeys`). Without moved devices every verb goes through as it is.
 */
export class MovedStore implements MeasurementStore {
  readonly #store: MeasurementStore;
  readonly #keys: StoredKeys;

  constructor(store: MeasurementStore, keys: StoredKeys) {
    this.#store = store;
    this.#keys = keys;
  }

  append(receipt: Receipt): Promise<number> {
    const { batches } = receipt;
    return this.#knowing(batches, (keys) => {
      if (keys.size === 0) return this.#store.append(receipt);
      return this.#store.append({ ...receipt, batches: batches.map((batch) => inStore(keys, batch)) });
    });
  }

  latest(queries: LatestQuery[], spend?: (ms: number) => void): Promise<LatestRow[]> {
    return this.#knowing(queries, async (keys) => {
      if (keys.size === 0) return this.#store.latest(queries, spend);
      const rows = await this.#store.latest(
        queries.map((query) => inStore(keys, query)),
        spend,
      );
      const asked = new Map<string, number>();
      for (const { deviceKey, fieldKeys } of queries)
        for (const key of fieldKeys) asked.set(`${deviceKey} ${storedKey(keys, deviceKey, key)}`, key);
      return rows.map((row) => ({ ...row, fieldKey: must(asked.get(`${row.deviceKey} ${row.fieldKey}`)) }));
    });
  }

  range(query: RangeQuery, place?: Place): Promise<Columns> {
    return this.#knowing([query], (keys) => this.#store.range(ofOneField(keys, query), place));
  }

  series(requests: readonly SeriesRequest[], place?: Place): Promise<(SeriesAnswer | undefined)[]> {
    return this.#knowing(requests, (keys) =>
      this.#store.series(keys.size === 0 ? requests : requests.map((request) => ofOneField(keys, request)), place),
    );
  }

  lastHeard(deviceKeys: number[]): Promise<Map<number, number>> {
    return this.#store.lastHeard(deviceKeys);
  }

  showHeard(): Promise<void> {
    return this.#store.showHeard();
  }

  position(): Promise<string> {
    return this.#store.position();
  }

  async recorded(query: RecordedQuery): Promise<RecordedPage> {
    const page = await this.#store.recorded(query);
    const { readings } = page;
    const keys = await this.#keys.of(readings);
    return keys.size === 0 ? page : { ...page, readings: readings.map((reading) => ofFields(keys, reading)) };
  }

  remove(query: RemoveQuery, piece?: Piece): Promise<number> {
    return this.#knowing([query], (keys) => this.#store.remove(inStore(keys, query), piece));
  }

  dropOlderThan(deviceKeys: number[], before: number): Promise<void> {
    return this.#store.dropOlderThan(deviceKeys, before);
  }

  settlePurges(): Promise<void> {
    return this.#store.settlePurges();
  }

  compactSoon(): Promise<void> {
    return this.#store.compactSoon();
  }

  calls(query: CallQuery): Promise<CallRow[]> {
    return this.#store.calls(query);
  }

  countCalls(query: CallQuery): Promise<CallCount> {
    return this.#store.countCalls(query);
  }

  call(productKey: number, id: string): Promise<CallRow | null> {
    return this.#store.call(productKey, id);
  }

  updateCalls(calls: CallOutcome[]): Promise<void> {
    return this.#store.updateCalls(calls);
  }

  valuesAt(keys: readonly DeviceKeys[]): Promise<KnownValues[]> {
    return this.#knowing(keys, (moved) =>
      this.#store.valuesAt(moved.size === 0 ? keys : keys.map((own) => inStore(moved, own))),
    );
  }

  rewrite(rewrite: Rewrite): Promise<number> {
    const { batches, removals, shared, calls } = rewrite;
    return this.#knowing([...batches, ...removals, ...shared], (keys) => {
      if (keys.size === 0) return this.#store.rewrite(rewrite);
      return this.#store.rewrite({
        batches: batches.map((batch) => inStore(keys, batch)),
        removals: removals.map((removal) => inStore(keys, removal)),
        shared: shared.map((one) => ofOneField(keys, one)),
        calls,
      });
    });
  }

  removeCalls(receivedBefore: number, productKey: number | undefined, isStopping: () => boolean): Promise<number> {
    return this.#store.removeCalls(receivedBefore, productKey, isStopping);
  }

  ping(): Promise<void> {
    return this.#store.ping();
  }

  stop(): Promise<void> {
    return this.#store.stop();
  }

  #knowing<T>(asked: readonly { deviceKey: number }[], work: (keys: MovedKeys) => Promise<T>): Promise<T> {
    const keys = this.#keys.of(asked);
    return keys instanceof Promise ? keys.then(work) : work(keys);
  }
}

function storedKey(keys: MovedKeys, deviceKey: number, fieldKey: number): number {
  return keys.get(deviceKey)?.stored.get(fieldKey) ?? fieldKey;
}

function inStore<Asked extends { deviceKey: number; fieldKeys: number[] }>(keys: MovedKeys, asked: Asked): Asked {
  if (!keys.has(asked.deviceKey)) return asked;
  return { ...asked, fieldKeys: asked.fieldKeys.map((key) => storedKey(keys, asked.deviceKey, key)) };
}

function ofOneField<Asked extends { deviceKey: number; fieldKey: number }>(keys: MovedKeys, asked: Asked): Asked {
  if (!keys.has(asked.deviceKey)) return asked;
  return { ...asked, fieldKey: storedKey(keys, asked.deviceKey, asked.fieldKey) };
}

/** A reading with each value under every field that has it, in one product or another: readers know the product. */
function ofFields(keys: MovedKeys, reading: RecordedReading): RecordedReading {
  const own = keys.get(reading.deviceKey);
  if (own === undefined) return reading;
  const named: RecordedReading = { ...reading, fieldKeys: [], values: [] };
  for (const [at, stored] of reading.fieldKeys.entries()) {
    const fields = own.fields.get(stored) ?? [];
    for (const key of own.stored.has(stored) ? fields : [...fields, stored]) {
      named.fieldKeys.push(key);
      named.values.push(must(reading.values[at]));
    }
  }
  return named;
}
