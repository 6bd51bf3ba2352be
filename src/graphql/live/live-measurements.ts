import { visibleProduct } from '../../domain/ingest-cache/visible-product.ts';
import type { Device } from '../../domain/entities/device.ts';
import { fromStoredValue } from '../../domain/measurements/field-value.ts';
import type { Feed, RecordedEvent } from '../../domain/measurements/feed.ts';
import type { IngestCache, ProductInfo } from '../../domain/ingest-cache/ingest-cache.ts';
import type { Access } from '../../domain/access/access.ts';
import { badInput, notFound } from '../../errors.ts';
import type { DeviceCache } from './device-cache.ts';
import { liveStream } from './live-stream.ts';
import type { RecordedBatch } from '../types/measurement.ts';

const MAX_NARROWED = 1000;

/** All given ones narrow. */
export interface LiveQuery {
  deviceIds?: string[] | null;
  productId?: string | null;
  workspaceId?: string | null;
  fields?: string[] | null;
  after?: string | null;
}

export interface LiveMeasurementsDeps {
  feed: Feed;
  ingestCache: IngestCache;
  devices: DeviceCache;
}

/** The stream behind `measurementsRecorded` (CONTRACT 7): what the token may read of the live feed. */
export class LiveMeasurements {
  readonly #deps: LiveMeasurementsDeps;

  constructor(deps: LiveMeasurementsDeps) {
    this.#deps = deps;
  }

  /** NOT_FOUND for a device, product or workspace that the token does not see; BAD_USER_INPUT for an unknown field. */
  async open(access: Access, query: LiveQuery): Promise<AsyncIterableIterator<RecordedBatch>> {
    if (query.workspaceId != null) access.requireWorkspace(query.workspaceId, 'READ');
    else access.workspaceIdsWith('READ');
    const product =
      query.productId == null ? null : await visibleProduct(this.#deps.ingestCache, access, query.productId, 'READ');
    const narrowed = query.deviceIds == null ? null : await this.#devices(access, query.deviceIds);
    const fields = query.fields == null ? null : new Set(query.fields);
    if (fields !== null) checkFields(fields, product !== null ? [product] : (narrowed?.products ?? []));

    const accepts = (event: RecordedEvent): boolean =>
      (query.workspaceId == null || event.workspaceId === query.workspaceId) &&
      (product === null || event.productId === product.id) &&
      (narrowed === null || narrowed.ids.has(event.deviceId)) &&
      access.may(event.workspaceId, 'READ') &&
      access.coversDevice({ id: event.deviceId, productId: event.productId, workspaceId: event.workspaceId });
    const events = this.#deps.feed.subscribe({ accepts, after: query.after ?? undefined });
    return liveStream(events, (event) => this.#toBatch(event, fields));
  }

  /** null when nothing of the event is wanted, or its device is gone. */
  async #toBatch(event: RecordedEvent, wanted: Set<string> | null): Promise<RecordedBatch | null> {
    const product = await this.#deps.ingestCache.product(event.productId);
    if (product === null) return null;
    const measurements = event.fieldKeys.flatMap((key, index) => {
      const field = product.fieldsByKey.get(key);
      const stored = event.values[index];
      const timestamp = event.timestamps[index];
      if (field === undefined || stored === undefined || timestamp === undefined) return [];
      if (wanted !== null && !wanted.has(field.identifier)) return [];
      const value = fromStoredValue(field.type, stored);
      return value === null ? [] : [{ field, timestamp, value }];
    });
    if (measurements.length === 0) return null;
    const device: Device | null = await this.#deps.devices.get(event.deviceKey);
    return device && { cursor: event.cursor, receivedAt: event.receivedAt, device, measurements };
  }

  async #devices(access: Access, ids: string[]): Promise<{ ids: Set<string>; products: ProductInfo[] }> {
    if (ids.length === 0 || ids.length > MAX_NARROWED)
      throw badInput(`"deviceIds" must name 1 to ${MAX_NARROWED} devices, not ${ids.length}; leave it out for all.`);
    const devices = await Promise.all(
      ids.map(async (id) => {
        const device = await this.#deps.ingestCache.device(id);
        if (device === null) throw notFound('device', id);
        access.requireDevice(device, 'READ');
        return device;
      }),
    );
    return { ids: new Set(devices.map((device) => device.id)), products: devices.map((device) => device.product) };
  }
}

/** Where the products are known, each field must be one of theirs. */
function checkFields(fields: Set<string>, products: ProductInfo[]): void {
  if (fields.size === 0) throw badInput('"fields" is empty; leave it out for all fields.');
  if (products.length === 0) return;
  for (const field of fields)
    if (!products.some((product) => product.fields.has(field)))
      throw badInput(`The product has no field "${field.slice(0, 64)}" (identifiers are case-sensitive).`);
}
