import type { EntityManager } from '@mikro-orm/sql';
import { AppError, conflict } from '../../errors.ts';
import type { Access } from '../access/access.ts';
import { findDevice } from '../access/find-device.ts';
import type { Database } from '../ports/database.ts';
import type { DeviceService } from '../devices/device-service.ts';
import type { Device } from '../entities/device.ts';
import { UnknownCallSchema } from '../entities/unknown-call.ts';
import { type UnknownDevice, UnknownDeviceSchema } from '../entities/unknown-device.ts';
import type { IngestCache, ProductInfo } from '../ingest-cache/ingest-cache.ts';
import type { CallRow, MeasurementStore } from '../ports/store.ts';
import { pause } from '../../scheduling/pause.ts';
import { uuidV7 } from '../text/uuid.ts';
import { lockWorkspace } from '../accounts/lock-workspace.ts';
import { MicroBatches } from '../../scheduling/micro-batches.ts';
import type { Outbox } from '../outgoing/outbox.ts';
import type { Replay } from '../replay/replay.ts';
import { type UnknownCallSeen, writeRound } from './write-unknown-calls.ts';

/** Bytes that a name counts in a micro-batch, which bounds the transaction. */
const OF_A_NAME = 256;
/** Maximum calls of one replay. */
const REPLAYED_AT_ONCE = 1_000;
/** Retries while another replay of the product is running, and the pause between them. */
const [MOST_TRIES, TRY_AGAIN_MS] = [40, 50];

interface NamedDevicesDeps {
  database: Database;
  ingestCache: IngestCache;
  devices: DeviceService;
  replay: Pick<Replay, 'replayCalls'>;
  store: Pick<MeasurementStore, 'call'>;
  outbox: Outbox;
  now: () => number;
}

/**
 * Names without a device in entries on products' webhooks (CONTRACT 5). The calls are in the products' logs; this notes
 * which of them have the name, so that they can be replayed once a device has it.
 */
export class NamedDevices {
  readonly #deps: NamedDevicesDeps;
  readonly #rounds: MicroBatches<UnknownCallSeen[], boolean>;

  constructor(deps: NamedDevicesDeps) {
    this.#deps = deps;
    this.#rounds = new MicroBatches(async (workspaceId, items) => {
      await writeRound(deps, workspaceId, items.flat());
      return items.map(() => true);
    });
  }

  /**
   * Notes the names after the answer, in one batch with others of the workspace; drops them when too many are queued.
   */
  note(
    { key, id, workspaceId }: ProductInfo,
    names: readonly string[],
    call: Pick<CallRow, 'id' | 'receivedAt'>,
  ): void {
    const seen = names.map((identifier) => ({
      network: 'webhook' as const,
      identifier,
      isAmbiguous: false,
      receivedAt: call.receivedAt,
      product: { key, id },
      kept: { id: uuidV7(call.receivedAt), callId: call.id, path: '', query: '{}', headers: '[]', body: '' },
    }));
    try {
      // A name that failed to be written comes again with the next call.
      this.#rounds.add(workspaceId, seen, seen.length * OF_A_NAME).catch(() => {});
    } catch {
      // The queue is full.
    }
  }

  /** Resolves when everything noted for these workspaces by now is written. */
  settled(workspaceIds?: readonly string[]): Promise<void> {
    return this.#rounds.settled(workspaceIds);
  }

  /**
   * Makes a device for each name that the product still lacks, all or none, and replays the calls with these names.
   * Needs CONFIGURE. Repeated after a failure it continues. Returns the devices in the same order.
   */
  async adopt(
    access: Access,
    product: ProductInfo,
    rows: readonly UnknownDevice[],
    { name, plan }: { name?: string | null | undefined; plan?: string | null | undefined },
  ): Promise<Device[]> {
    const { database, devices, ingestCache, now } = this.#deps;
    const ids = rows.map(({ id }) => id);
    const begin = { adoptedAt: now() };
    const known = await ingestCache.devicesOfProduct(
      product,
      rows.map(({ identifier }) => identifier),
    );
    const missing = rows.filter(({ identifier }) => known.get(identifier) === undefined);
    if (missing.length === 0)
      await database.write((em) => em.nativeUpdate(UnknownDeviceSchema, { id: { $in: ids } }, begin));
    else {
      const made = missing.map(({ identifier }) => ({ name: name ?? identifier, serialNumber: identifier }));
      const also = {
        areSent: true,
        also: (em: EntityManager) => em.nativeUpdate(UnknownDeviceSchema, { id: { $in: ids } }, begin),
      };
      await devices.create(access, product.id, made, plan, also);
    }
    const replayed = new Set<string>();
    do await this.#replay(access, product, ids, replayed);
    while (!(await this.#forget(product.workspaceId, ids, replayed)));
    const present = await ingestCache.devicesOfProduct(
      product,
      rows.map(({ identifier }) => identifier),
    );
    const adopted: Device[] = [];
    for (const { identifier } of rows) {
      const device = present.get(identifier);
      if (device == null) throw conflict(`id: several devices of the product have the name "${identifier}", or none.`);
      adopted.push(await findDevice(database.read(), access, device.id, 'CONFIGURE'));
    }
    return adopted;
  }

  async #replay(access: Access, { id, key }: ProductInfo, of: readonly string[], replayed: Set<string>): Promise<void> {
    const { database, store } = this.#deps;
    const fields = ['id', 'callId'] as const;
    const kept = await database.read().find(UnknownCallSchema, { unknownDevice: { $in: of } }, { fields });
    const callIds: string[] = [];
    for (const callId of new Set(kept.map((call) => call.callId)))
      // Skip calls that the log no longer has.
      if (callId != null && (await store.call(key, callId)) !== null) callIds.push(callId);
    callIds.sort();
    for (let at = 0; at < callIds.length; at += REPLAYED_AT_ONCE)
      await this.#replayCalls(access, id, callIds.slice(at, at + REPLAYED_AT_ONCE));
    for (const call of kept) replayed.add(call.id);
  }

  async #replayCalls(access: Access, productId: string, callIds: string[]): Promise<void> {
    for (let tries = 1; ; tries += 1)
      try {
        return void (await this.#deps.replay.replayCalls(access, productId, { callIds }));
      } catch (error) {
        if (!(error instanceof AppError && error.code === 'CONFLICT') || tries === MOST_TRIES) throw error;
        await pause(TRY_AGAIN_MS);
      }
  }

  /** Forgets the names after the replay; false: more calls have come. */
  #forget(workspaceId: string, ids: readonly string[], replayed: ReadonlySet<string>): Promise<boolean> {
    return this.#deps.database.write(async (em) => {
      // Lock, so that no node notes calls meanwhile.
      await lockWorkspace(em, workspaceId);
      const calls = await em.find(UnknownCallSchema, { unknownDevice: { $in: ids } }, { fields: ['id'] });
      if (calls.some((call) => !replayed.has(call.id))) return false;
      await em.nativeDelete(UnknownDeviceSchema, { id: { $in: ids } });
      return true;
    });
  }
}
