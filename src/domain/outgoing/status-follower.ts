import { pause } from '../../scheduling/pause.ts';
import { oneOf, readStatusRows } from '../device-status/status-rows.ts';
import { limitOf } from '../devices/offline-after.ts';
import type { StatusWatch } from '../device-status/status-watch.ts';
import type { Database } from '../ports/database.ts';
import type { MeasurementStore } from '../ports/store.ts';
import { rowsOf } from '../sql/json-rows.ts';
import { placeholders } from '../sql/long-columns.ts';
import type { Outbox } from './outbox.ts';
import type { ReaderLeases } from './reader-leases.ts';
import { readToldDevices } from './told-devices.ts';

/** Maximum changes per transaction. */
const AT_ONCE = 500;
const FAILED_MS = 1_000;
/** The position of a workspace whose silent devices are known. */
const KNOWN = 'known';

/** What a follower needs. */
export interface StatusFollowerDeps {
  database: Database;
  store: Pick<MeasurementStore, 'lastHeard'>;
  statusWatch: StatusWatch;
  outbox: Outbox;
  leases: ReaderLeases;
  now: () => number;
  onError: (error: unknown) => void;
}

interface Change {
  deviceKey: number;
  online: boolean;
  at: number;
}

/**
 * Writes `device.offline` and `device.online` of one workspace. The devices of which was told that they are silent are
 * kept, and change in the transaction that tells of it: so each is told once, also what changed while no server ran.
 */
export class StatusFollower {
  readonly #deps: StatusFollowerDeps;
  readonly #name: string;
  readonly #workspaceId: string;
  #isKnown: boolean;
  #stream: { return: () => Promise<unknown> } | null = null;
  #isStopped = false;

  /** `name`: of its lease, which this node has; `position`: as that has it. */
  constructor(name: string, workspaceId: string, position: string | null, deps: StatusFollowerDeps) {
    this.#name = name;
    this.#workspaceId = workspaceId;
    this.#isKnown = position === KNOWN;
    this.#deps = deps;
    void this.#run();
  }

  stop(): void {
    this.#isStopped = true;
    void this.#stream?.return();
  }

  async #run(): Promise<void> {
    while (!this.#isStopped)
      try {
        await this.#follow();
      } catch (error) {
        if (this.#isStopped) return;
        this.#deps.onError(error);
        await pause(FAILED_MS);
      }
  }

  async #follow(): Promise<void> {
    const { statusWatch } = this.#deps;
    const turns = { next: async () => {}, spend: () => {} };
    const stream = await statusWatch.subscribe([this.#workspaceId], () => true, turns, this.#workspaceId);
    this.#stream = stream;
    try {
      // What changes meanwhile comes by the stream, and is told once.
      await this.#reconcile();
      while (!this.#isStopped) {
        const events = await stream.take(AT_ONCE);
        if (events.length === 0) return;
        await this.#tell(events);
      }
    } finally {
      await stream.return();
    }
  }

  /** Tells of what changed while nobody looked; the first time, what is silent already is only noted. */
  async #reconcile(): Promise<void> {
    const { database, store, leases, now } = this.#deps;
    const rows = await database
      .read()
      .execute<{ key: number }[]>('select device_key as "key" from silent_device where workspace_id = ?', [
        this.#workspaceId,
      ]);
    const told = new Set(rows.map(({ key }) => key));
    const ofWorkspace = oneOf('d.workspace_id', [this.#workspaceId]);
    let after = 0;
    while (!this.#isStopped) {
      const page = await readStatusRows(database, ofWorkspace, after);
      const heard = await store.lastHeard(page.map(({ deviceKey }) => deviceKey));
      const changes = page.flatMap(({ deviceKey, ownSeconds, productSeconds }): Change[] => {
        const heardAt = heard.get(deviceKey);
        if (heardAt === undefined) return [];
        const silentAt = heardAt + limitOf(ownSeconds ?? productSeconds);
        const online = silentAt >= now();
        return online === told.has(deviceKey) ? [{ deviceKey, online, at: online ? heardAt : silentAt }] : [];
      });
      for (let at = 0; at < changes.length; at += AT_ONCE) await this.#tell(changes.slice(at, at + AT_ONCE));
      const last = page.at(-1);
      if (last === undefined) break;
      after = last.deviceKey;
    }
    if (!this.#isKnown) await leases.moveTo(this.#name, KNOWN);
    this.#isKnown = true;
  }

  async #tell(changes: readonly Change[]): Promise<void> {
    const { database, store, outbox } = this.#deps;
    // The last one counts of a device that changed twice.
    const last = new Map(changes.map((change) => [change.deviceKey, change]));
    const heard = await store.lastHeard([...last.keys()]);
    await database.write(async (em) => {
      const keysOf = (online: boolean): number[] =>
        [...last.values()].flatMap((change) => (change.online === online ? [change.deviceKey] : []));
      const [silent, back] = [keysOf(false), keysOf(true)];
      const item = database.dialect === 'sqlite' ? 'value->>0' : '(value->>0)::int';
      const changed: { key: number }[] =
        silent.length === 0
          ? []
          : await em.execute(
              `insert into silent_device (device_key, workspace_id) select ${item}, ? from ${rowsOf(database.dialect)} where true
               on conflict (device_key) do nothing returning device_key as "key"`,
              [this.#workspaceId, JSON.stringify(silent.map((key) => [key]))],
            );
      if (back.length > 0)
        changed.push(
          ...(await em.execute<{ key: number }[]>(
            `delete from silent_device where device_key in (${placeholders(back)}) returning device_key as "key"`,
            back,
          )),
        );
      if (!this.#isKnown || changed.length === 0) return;
      const devices = await readToldDevices(
        em,
        changed.map(({ key }) => key),
      );
      await outbox.write(
        em,
        [...devices.values()].map(({ key, device, product }) => {
          const { online, at } = last.get(key) ?? { online: false, at: 0 };
          const heardAt = heard.get(key) ?? null;
          const type = online ? 'device.online' : 'device.offline';
          return {
            key: `${type} ${device.id} ${at}`,
            type,
            workspaceId: this.#workspaceId,
            productId: product.id,
            deviceId: device.id,
            tags: device.tags,
            endpointIds: null,
            at: new Date(at),
            data: { device, product, lastHeardAt: heardAt === null ? null : new Date(heardAt).toISOString() },
          };
        }),
      );
    });
    outbox.wake();
  }
}
