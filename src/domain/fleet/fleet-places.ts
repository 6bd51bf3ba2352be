import { badInput } from '../../errors.ts';
import type { Access } from '../access/access.ts';
import { limitOf } from '../devices/offline-after.ts';
import { type Asker, DeviceScan } from '../devices/device-scan.ts';
import type { Database } from '../ports/database.ts';
import type { MeasurementStore } from '../ports/store.ts';
import type { FairScheduler } from '../../scheduling/fair-scheduler.ts';
import { requireFleet } from './fleet.ts';

/** Maximum places of one answer. */
const MAX_PLACES = 10_000;
/** Devices per look-up of newest values. */
const DEVICES_AT_ONCE = 1_000;

/** The last known place of a device. */
interface FleetPlace {
  deviceId: string;
  name: string;
  online: boolean;
  /** As the API writes it: `(lat,lon)`. */
  place: string;
  /** ms UTC. */
  at: number;
}

interface FleetPlacesDeps {
  database: Database;
  store: Pick<MeasurementStore, 'latest' | 'showHeard'>;
  shares: Pick<FairScheduler, 'spend' | 'usesMuch'>;
  now: () => number;
}

interface Row {
  deviceKey: number;
  productKey: number;
  id: string;
  name: string;
  seconds: number | null;
  heardAt: number | string | null;
}

const COLUMNS = `d."key" as "deviceKey", d.product_key as "productKey", d.id, d.name,
  coalesce(d.offline_after_seconds, p.offline_after_seconds) as seconds,
  (select s.last_heard_at from device_state s where s.device_key = d."key") as "heardAt"`;

/** Finds where the devices of a workspace are: their newest value of the field with role LOCATION, else of the first place. */
export class FleetPlaces {
  readonly #deps: FleetPlacesDeps;
  readonly #scan: DeviceScan;

  constructor(deps: FleetPlacesDeps) {
    this.#deps = deps;
    this.#scan = new DeviceScan(deps.database, deps.shares);
  }

  /** The places of at most `first` devices, product by product. */
  async list(access: Access, workspaceId: string, most: number, asker: Asker): Promise<FleetPlace[]> {
    requireFleet(access, workspaceId);
    if (!(most >= 1 && most <= MAX_PLACES)) throw badInput(`first: expected a number from 1 to ${MAX_PLACES}.`);
    const fields = await this.#fields(workspaceId);
    if (fields.size === 0) return [];
    await this.#deps.store.showHeard();
    const places: FleetPlace[] = [];
    const parts = [...fields.keys()].map((key) => ({ sql: ['d.product_key = ?'], values: [key] }));
    const whole = { sql: [`d.product_key in (${parts.map(() => '?').join(', ')})`], values: [...fields.keys()] };
    const slices = this.#scan.slices<Row>(access, { whole, parts }, { asker }, ({ sql, values }) => ({
      text: `select ${COLUMNS} from device d join product p on p."key" = d.product_key where ${sql.join(' and ')}`,
      values,
    }));
    for await (const rows of slices)
      for (let from = 0; from < rows.length; from += DEVICES_AT_ONCE) {
        asker.check?.();
        places.push(...(await this.#places(access, workspaceId, rows.slice(from, from + DEVICES_AT_ONCE), fields)));
        if (places.length >= most) return places.slice(0, most);
      }
    return places;
  }

  async #places(
    access: Access,
    tenant: string,
    rows: readonly Row[],
    fields: ReadonlyMap<number, number[]>,
  ): Promise<FleetPlace[]> {
    const { store, shares, now } = this.#deps;
    const queries = rows.map(({ deviceKey, productKey }) => ({
      deviceKey,
      fieldKeys: fields.get(productKey) ?? [],
      tenant,
    }));
    const latest = await store.latest(queries, (milliseconds) => shares.spend(access, milliseconds));
    const found = new Map(latest.map((row) => [row.deviceKey, row]));
    return rows.flatMap(({ deviceKey, id: deviceId, name, seconds, heardAt }) => {
      const newest = found.get(deviceKey);
      if (newest === undefined || typeof newest.value !== 'string') return [];
      const online = Number(heardAt ?? 0) > 0 && Number(heardAt) >= now() - limitOf(seconds);
      return [{ deviceId, name, online, place: newest.value, at: newest.timestamp }];
    });
  }

  /** The field of each product that says where its devices are, as a list of one, by the product's key. */
  async #fields(workspaceId: string): Promise<Map<number, number[]>> {
    const rows = await this.#deps.database.read().execute<{ productKey: number; key: number }[]>(
      `select f.product_key as "productKey", f."key" as "key" from field f join product p on p."key" = f.product_key
       where p.workspace_id = ? and p.deleted_at is null and f.type = 'GEOLOCATION'
       order by case when f.role = 'LOCATION' then 0 else 1 end, f."key"`,
      [workspaceId],
    );
    const fields = new Map<number, number[]>();
    for (const { productKey, key } of rows) if (!fields.has(productKey)) fields.set(productKey, [key]);
    return fields;
  }
}
