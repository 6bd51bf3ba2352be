import type { Device } from '../../domain/entities/device.ts';
import { fromStoredValue } from '../../domain/measurements/field-value.ts';
import { placeOfDevice } from '../../domain/access/find-device.ts';
import type { RecordedFeed } from '../../domain/live/recorded-feed.ts';
import type { RecordedEvent } from '../../domain/live/recorded-event.ts';
import type { IngestCache, ProductInfo } from '../../domain/ingest-cache/ingest-cache.ts';
import { notCovered, seenProduct } from '../../domain/ingest-cache/seen-fields.ts';
import { seal, unseal } from '../../domain/text/sealed-text.ts';
import type { Access } from '../../domain/access/access.ts';
import { badInput } from '../../errors.ts';
import type { FairScheduler } from '../../scheduling/fair-scheduler.ts';
import type { DeviceCache } from '../../domain/devices/device-cache.ts';
import { numbering } from '../../domain/sql/numbering.ts';
import { LiveStream } from './live-stream.ts';
import { type LiveChoice, narrowed } from './narrowed.ts';
import type { RecordedBatch } from '../types/measurement.ts';

/** A subscriber's choice of live values. */
export interface LiveQuery extends LiveChoice {
  fields?: string[] | null;
  after?: string | null;
}

interface LiveMeasurementsDeps {
  feed: RecordedFeed;
  ingestCache: IngestCache;
  devices: DeviceCache;
  shares: FairScheduler;
}

/** The stream behind `measurementsRecorded` (CONTRACT 7): the part of the live feed that the token may read. */
export class LiveMeasurements {
  readonly #deps: LiveMeasurementsDeps;
  readonly #cursors = new WeakMap<RecordedEvent, string>();
  /** Rights do not change, but the token may get others. */
  readonly #numberOf = numbering();

  constructor(deps: LiveMeasurementsDeps) {
    this.#deps = deps;
  }

  /** NOT_FOUND for a device, product or workspace that the token does not see; BAD_USER_INPUT for an unknown field. */
  async open(access: Access, query: LiveQuery): Promise<LiveStream<RecordedEvent>> {
    const { products, deviceKeys, accepts } = await narrowed(access, this.#deps.ingestCache, query);
    const fields = query.fields == null ? null : new Set(query.fields);
    if (fields !== null) checkFields(fields, products, access);
    const { devices, feed, shares } = this.#deps;
    const acceptsDevice = (device: Device | null): boolean => device !== null && accepts(placeOfDevice(device));
    const events = await feed.subscribe({
      deviceKeys,
      audience: JSON.stringify([this.#numberOf(access), query.workspaceId, query.productId]),
      accepts: (deviceKey) => {
        const device = devices.cached(deviceKey);
        return device === undefined ? devices.get(deviceKey).then(acceptsDevice) : acceptsDevice(device);
      },
      after: query.after == null ? undefined : (unseal(query.after) ?? ''),
      turns: shares.turnsOf(access, { patient: true }),
      party: access,
    });
    return new LiveStream(events, (event) => ({ of: event, value: () => this.#toBatch(event, access, fields) }));
  }

  /** null when nothing of the event is wanted, or its device is gone. */
  async #toBatch(event: RecordedEvent, access: Access, wanted: Set<string> | null): Promise<RecordedBatch | null> {
    const device = await this.#deps.devices.get(event.deviceKey);
    const whole = device && (await this.#deps.ingestCache.product(device.product.id));
    if (device === null || whole === null) return null;
    const product = seenProduct(access, whole);
    const measurements = event.fieldKeys.flatMap((key, index) => {
      const field = product.fieldsByKey.get(key);
      const stored = event.values[index];
      const timestamp = event.timestamps[index];
      if (field === undefined || stored === undefined || timestamp === undefined) return [];
      if (wanted !== null && !wanted.has(field.identifier)) return [];
      const value = fromStoredValue(field, stored);
      return value === null ? [] : [{ field, timestamp, value }];
    });
    if (measurements.length === 0) return null;
    const cursorOf = (): string => this.#cursorOf(event);
    return {
      get cursor() {
        return cursorOf();
      },
      receivedAt: event.receivedAt,
      device,
      measurements,
    };
  }

  /** Sealed once for all subscribers. */
  #cursorOf(event: RecordedEvent): string {
    let cursor = this.#cursors.get(event);
    if (cursor === undefined) this.#cursors.set(event, (cursor = seal(event.cursor)));
    return cursor;
  }
}

/** Checks that each field is one of the products', where those are known, and one that the token covers. */
function checkFields(fields: Set<string>, products: ProductInfo[], access: Access): void {
  if (fields.size === 0) throw badInput('"fields" is empty; leave it out for all fields.');
  for (const field of fields) {
    if (!access.coversField(field)) throw badInput(notCovered(field));
    if (products.length > 0 && !products.some((product) => product.fields.has(field)))
      throw badInput(`The product has no field "${field.slice(0, 64)}" (identifiers are case-sensitive).`);
  }
}
