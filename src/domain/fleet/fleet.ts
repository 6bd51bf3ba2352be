import { AppError } from '../../errors.ts';
import type { Access } from '../access/access.ts';
import type { AlertService } from '../alerts/alert-service.ts';
import type { DeviceList } from '../devices/device-list.ts';
import type { Asker } from '../devices/device-scan.ts';
import type { DayValues, ValueTally } from '../measurements/value-tally.ts';
import type { Database } from '../ports/database.ts';
import type { UnknownDevices } from '../receiving/unknown-devices.ts';
import type { FairScheduler } from '../../scheduling/fair-scheduler.ts';
import { yieldToEventLoop } from '../../scheduling/yield-to-event-loop.ts';

/** Maximum products with a failing decoder that are named. */
const MAX_FAILING = 100;
/** Products per statement. */
const PRODUCTS_AT_ONCE = 500;
/** ms for which a call counts as one of now. */
const RECENT_MS = 86_400_000;
/** Days of `valuesADay`. */
const DAYS = 14;

/** A product whose decoder failed at its newest call. */
interface FailingDecoder {
  productKey: number;
  /** ms UTC. */
  lastFailedAt: number;
}

interface FleetDeps {
  database: Database;
  deviceList: DeviceList;
  alerts: AlertService;
  unknownDevices: UnknownDevices;
  valueTally: ValueTally;
  shares: Pick<FairScheduler, 'spend'>;
  now: () => number;
}

/** Counts what goes on in a workspace: for those who may READ all of it. */
export class Fleet {
  readonly #deps: FleetDeps;

  constructor(deps: FleetDeps) {
    this.#deps = deps;
  }

  /** Number of devices; only of those that are online or not. */
  devices(access: Access, workspaceId: string, asker: Asker, online: boolean | null = null): Promise<number> {
    requireFleet(access, workspaceId);
    return this.#deps.deviceList.count(access, { workspaceId, online }, asker);
  }

  /** Number of devices whose battery is low; null: there are too many devices to look through. */
  async lowBattery(access: Access, workspaceId: string, asker: Asker): Promise<number | null> {
    requireFleet(access, workspaceId);
    try {
      return await this.#deps.deviceList.count(access, { workspaceId, lowBattery: true }, asker);
    } catch (error) {
      if (error instanceof AppError && error.code === 'BAD_USER_INPUT') return null;
      throw error;
    }
  }

  /** Number of alerts that fire. */
  firing(access: Access, workspaceId: string): Promise<number> {
    requireFleet(access, workspaceId);
    return this.#deps.alerts.count(access, { workspaceId, state: ['FIRING'] });
  }

  /** Number of devices that sent and are not known. */
  async unknown(access: Access, workspaceId: string): Promise<number> {
    return (await this.#deps.unknownDevices.list(access, workspaceId)).length;
  }

  /** Values stored on each of the last days. */
  valuesADay(access: Access, workspaceId: string): Promise<DayValues[]> {
    requireFleet(access, workspaceId);
    return this.#deps.valueTally.daysOf(workspaceId, DAYS);
  }

  /** Products whose newest call of the last 24 hours failed in the decoder, in the order of their creation. */
  async failingDecoders(access: Access, workspaceId: string): Promise<FailingDecoder[]> {
    requireFleet(access, workspaceId);
    const { database, shares, now } = this.#deps;
    const since = now() - RECENT_MS;
    const failing: FailingDecoder[] = [];
    for (let after = 0; failing.length < MAX_FAILING;) {
      const began = performance.now();
      const rows = await database.read().execute<NewestCall[]>(NEWEST_CALLS, [workspaceId, after, PRODUCTS_AT_ONCE]);
      shares.spend(access, performance.now() - began);
      for (const { key, status, receivedAt } of rows)
        if (status === 'DECODER_FAILED' && Number(receivedAt) >= since)
          failing.push({ productKey: key, lastFailedAt: Number(receivedAt) });
      const last = rows.at(-1);
      if (last === undefined || rows.length < PRODUCTS_AT_ONCE) break;
      after = last.key;
      await yieldToEventLoop(access);
    }
    return failing.slice(0, MAX_FAILING);
  }
}

interface NewestCall {
  key: number;
  status: string | null;
  receivedAt: number | string | null;
}

/** The newest call of each product of a workspace; an index has them in this order. */
const NEWEST_CALLS = `
  select p."key" as "key", c.status, c.received_at as "receivedAt"
  from product p left join webhook_call c on c."key" = (
    select n."key" from webhook_call n where n.product_key = p."key" order by n.id desc limit 1)
  where p.workspace_id = ? and p.deleted_at is null and p."key" > ? order by p."key" limit ?`;

/** FORBIDDEN unless the token may READ the whole workspace. */
export function requireFleet(access: Access, workspaceId: string): void {
  access.requireWorkspace(workspaceId, 'READ');
  access.requireUnlimited();
}
