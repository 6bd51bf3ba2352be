import { notFound } from '../../errors.ts';
import type { Access } from '../access/access.ts';
import type { Database } from '../ports/database.ts';
import type { DeviceList } from '../devices/device-list.ts';
import type { Asker } from '../devices/device-scan.ts';
import type { FieldType } from '../entities/field.ts';
import type { History } from '../history/history.ts';
import type { PointBudget } from '../history/point-budget.ts';
import type { IngestCache } from '../ingest-cache/ingest-cache.ts';
import { fieldId } from './field-id.ts';

/** Maximum devices counted, the oldest first. */
const MAX_DEVICES = 200;

interface FieldMisfitsDeps {
  database: Database;
  devices: Pick<DeviceList, 'page' | 'count'>;
  ingestCache: Pick<IngestCache, 'device'>;
  history: Pick<History, 'misfits'>;
}

/** Number of values, and of those that do not fit, on some of the visible devices. */
interface Misfits {
  misfits: number;
  values: number;
  devices: number;
  ofDevices: number;
}

/** Stored values that do not fit a type of their field, and are hidden while it has that type. */
export class FieldMisfits {
  readonly #deps: FieldMisfitsDeps;

  constructor(deps: FieldMisfitsDeps) {
    this.#deps = deps;
  }

  /** Counts on the devices that the token may READ; the type is that of the field, or one that it may get. */
  async count(
    access: Access,
    field: { key: number; type: FieldType },
    { points, asker }: { points: PointBudget; asker: Asker },
  ): Promise<Misfits> {
    const { database, devices, ingestCache, history } = this.#deps;
    const [row] = await database
      .read()
      .execute<{ id: string }[]>(
        'select p.id from field f join product p on p."key" = f.product_key where f."key" = ?',
        [field.key],
      );
    if (row === undefined) throw notFound('field', fieldId(field.key));
    const query = { productId: row.id, orderBy: 'CREATED', descending: false, limit: MAX_DEVICES } as const;
    const { items, hasNextPage } = await devices.page(access, query, asker);
    const ofDevices = hasNextPage ? await devices.count(access, { productId: row.id }, asker) : items.length;
    const infos = await Promise.all(items.map(({ device }) => ingestCache.device(device.id)));
    const found = infos.filter((info) => info !== null);
    return { ...(await history.misfits(found, field, points)), devices: items.length, ofDevices };
  }
}
