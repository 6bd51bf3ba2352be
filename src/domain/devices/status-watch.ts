import { AppError } from '../../errors.ts';
import { BoundedStream, type LiveQueue } from '../bounded-stream.ts';
import { type Change, type Cluster, earliestNow } from '../cluster.ts';
import type { Database } from '../database.ts';
import { giveWay } from '../give-way.ts';
import { placeholders } from '../long-columns.ts';
import type { Feed } from '../measurements/feed.ts';
import type { MeasurementStore } from '../measurements/store.ts';
import { DEFAULT_OFFLINE_AFTER_SECONDS } from '../offline-after.ts';
import { pause } from '../pause.ts';
import type { Conditions } from './device-scan.ts';

interface WatchedPlace {
  deviceKey: number;
  deviceId: string;
  productId: string;
  workspaceId: string;
}

/** A device went silent, or is heard again; `at` in milliseconds: when the silence was too long, or its end. */
export interface StatusEvent extends WatchedPlace {
  online: boolean;
  at: number;
}

/** `offlineAfterSeconds`: the device's own, else its product's. */
interface PlaceRow extends WatchedPlace {
  offlineAfterSeconds: number | null;
}

interface StatusWatchDeps {
  database: Database;
  store: MeasurementStore;
  feed: Feed;
  cluster: Cluster;
  now: () => number;
  /** A look at the database that failed; it is tried again a second later. */
  onError: (error: unknown) => void;
}

interface Watched extends WatchedPlace {
  limitMs: number;
  /** Receipt time of what it sent last; -Infinity: nothing ever. */
  heardAt: number;
  online: boolean;
}

interface Subscriber {
  workspaceIds: ReadonlySet<string>;
  accepts: (device: WatchedPlace) => boolean;
  /** What changed earlier is told to others only. */
  since: number;
  stream: BoundedStream<StatusEvent>;
}

const EVERY_MS = 1_000;
const PAGE = 2_000;
/** Devices of all watched workspaces together; each takes some 200 bytes. */
const MAX_WATCHED = 200_000;
const MAX_UNREAD = 10_000;

/**
 * Tells when devices go silent and when they are heard again (contract `deviceStatusChanged`), each once. Works from the
 * server's clock and what the database says of the last receipt, so a restart changes nothing. While nobody subscribes
 * nothing is watched.
 */
export class StatusWatch {
  readonly #deps: StatusWatchDeps;
  readonly #subscribers = new Set<Subscriber>();
  readonly #watched = new Map<number, Watched>();
  /** Workspaces whose devices are in `#watched`. */
  readonly #loaded = new Set<string>();
  /** Those of them of which changes may have been missed. */
  readonly #doubted = new Set<string>();
  /** Silent ones of which something was stored. */
  readonly #stirred = new Set<Watched>();
  #timer: NodeJS.Timeout | null = null;
  #endListening = (): void => {};
  /** One look after the other. */
  #turn: Promise<void> = Promise.resolve();

  constructor(deps: StatusWatchDeps) {
    this.#deps = deps;
    deps.cluster.onChanged((changes) => {
      if (changes.some(({ kind }) => kind === 'everything')) this.#doubtAll();
      if (this.#subscribers.size > 0) this.#inTurn(() => this.#changed(changes));
    });
  }

  /** What changes from now on in these workspaces; ends when returned. OVERLOADED when there are too many devices. */
  async subscribe(
    workspaceIds: readonly string[],
    accepts: (device: WatchedPlace) => boolean,
  ): Promise<LiveQueue<StatusEvent>> {
    const stream = new BoundedStream<StatusEvent>({
      sizeOf: () => 1,
      read: (event) => event,
      maxUnread: MAX_UNREAD,
      tooSlow: 'This subscriber reads too slowly; subscribe again and read `devices(online:)`.',
      onEnd: () => {
        this.#subscribers.delete(subscriber);
        if (this.#subscribers.size === 0) this.#rest();
      },
    });
    const since = earliestNow(this.#deps);
    const subscriber = { workspaceIds: new Set(workspaceIds), accepts, since, stream };
    this.#subscribers.add(subscriber);
    this.#wake();
    try {
      await this.#run(async () => {
        for (const id of workspaceIds) if (!this.#loaded.has(id)) await this.#loadWorkspace({ id, since });
      });
    } catch (error) {
      await stream.return();
      throw error;
    }
    return stream;
  }

  stop(): void {
    for (const { stream } of this.#subscribers) void stream.return();
  }

  #wake(): void {
    if (this.#timer !== null) return;
    this.#timer = setInterval(() => this.#inTurn(() => this.#look()), EVERY_MS);
    this.#timer.unref();
    void this.#listen();
  }

  #rest(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#endListening();
    this.#watched.clear();
    this.#loaded.clear();
    this.#doubted.clear();
    this.#stirred.clear();
  }

  /** Hears what is recorded, until nobody subscribes any more. */
  async #listen(): Promise<void> {
    const accepts = (deviceKey: number): boolean => this.#watched.has(deviceKey);
    while (this.#timer !== null) {
      const timer = this.#timer;
      try {
        const events = await this.#deps.feed.subscribe({ accepts });
        this.#endListening = () => void events.return();
        this.#inTurn(() => this.#ask([...this.#watched.values()]));
        for await (const { deviceKey } of events) this.#hear(deviceKey);
      } catch (error) {
        // Too much at once, or the database is away: it knows, and is asked again.
        this.#deps.onError(error);
        await pause(EVERY_MS);
      }
      if (this.#timer !== timer) return;
    }
  }

  /** Something of the device was stored: whether it sent that itself, and when, is in the database. */
  #hear(deviceKey: number): void {
    const device = this.#watched.get(deviceKey);
    if (device === undefined || device.online) return;
    this.#stirred.add(device);
    if (this.#stirred.size === 1) this.#inTurn(() => this.#askStirred());
  }

  async #askStirred(): Promise<void> {
    const stirred = [...this.#stirred];
    this.#stirred.clear();
    await this.#ask(stirred);
  }

  /** Tells when the device's status is another than it was, also now that its limit has changed. */
  #judge(device: Watched, limitChanged = false): void {
    const now = this.#deps.now();
    const online = !isOverdue(device, now);
    if (online === device.online) return;
    device.online = online;
    const { deviceKey, deviceId, productId, workspaceId, heardAt, limitMs } = device;
    const at = online ? heardAt : Number.isFinite(heardAt) ? Math.min(heardAt + limitMs, now) : now;
    const event = { deviceKey, deviceId, productId, workspaceId, online, at };
    const changedAt = limitChanged ? now : at;
    for (const { workspaceIds, accepts, since, stream } of this.#subscribers)
      if (changedAt >= since && workspaceIds.has(workspaceId) && accepts(device)) stream.offer(event);
  }

  async #look(): Promise<void> {
    await this.#loadDoubted();
    await this.#findSilent();
  }

  /** Before a device counts as silent the database is asked: another node may have heard it. */
  async #findSilent(): Promise<void> {
    const now = this.#deps.now();
    await this.#ask([...this.#watched.values()].filter((device) => device.online && isOverdue(device, now)));
  }

  async #ask(devices: Watched[]): Promise<void> {
    for (let at = 0; at < devices.length; at += PAGE) {
      if (at > 0) await giveWay();
      const page = devices.slice(at, at + PAGE);
      const heard = await this.#deps.store.lastHeard(page.map(({ deviceKey }) => deviceKey));
      for (const device of page) {
        device.heardAt = Math.max(device.heardAt, heard.get(device.deviceKey) ?? -Infinity);
        this.#judge(device);
      }
    }
  }

  async #changed(changes: Change[]): Promise<void> {
    try {
      for (const change of changes) await this.#follow(change);
    } catch (error) {
      // Asked again a second later.
      if (isWorthARetry(error)) this.#doubtAll();
      throw error;
    }
  }

  async #follow(change: Change): Promise<void> {
    if (change.kind === 'product') {
      const there = await this.#load({ sql: ['p.id = ?'], values: [change.id] });
      this.#forget(({ deviceId, productId }) => productId === change.id && !there.has(deviceId));
    } else if (change.kind === 'devices') {
      for (let at = 0; at < change.ids.length; at += PAGE) {
        const ids = new Set(change.ids.slice(at, at + PAGE));
        const there = await this.#load({ sql: [`d.id in (${placeholders([...ids])})`], values: [...ids] });
        this.#forget(({ deviceId }) => ids.has(deviceId) && !there.has(deviceId));
      }
    }
  }

  #doubtAll(): void {
    for (const id of this.#loaded) this.#doubted.add(id);
  }

  async #loadDoubted(): Promise<void> {
    // What is doubted meanwhile comes next time.
    const ids = [...this.#doubted];
    for (const id of ids) {
      this.#doubted.delete(id);
      try {
        const there = await this.#loadWorkspace({ id, since: this.#deps.now() });
        this.#forget(({ deviceId, workspaceId }) => workspaceId === id && !there.has(deviceId));
      } catch (error) {
        if (isWorthARetry(error)) this.#doubted.add(id);
        throw error;
      }
    }
  }

  #forget(isGone: (device: Watched) => boolean): void {
    for (const [key, device] of this.#watched) if (isGone(device)) this.#watched.delete(key);
  }

  #loadWorkspace(workspace: { id: string; since: number }): Promise<Set<string>> {
    return this.#load({ sql: ['d.workspace_id = ?'], values: [workspace.id] }, workspace);
  }

  /** Reads devices of watched workspaces (all of `wholeWorkspace`, when given); returns the ids that are there. */
  async #load(where: Conditions, wholeWorkspace: { id: string; since: number } | null = null): Promise<Set<string>> {
    const ids = new Set<string>();
    for (let after = 0; ;) {
      const rows = await this.#page(where, after);
      const heard = await this.#deps.store.lastHeard(rows.map(({ deviceKey }) => deviceKey));
      for (const row of rows) {
        ids.add(row.deviceId);
        if (wholeWorkspace !== null || this.#loaded.has(row.workspaceId))
          this.#watch(row, heard.get(row.deviceKey), wholeWorkspace?.since ?? null);
      }
      if (rows.length < PAGE) break;
      after = rows.at(-1)!.deviceKey;
      await giveWay();
    }
    if (wholeWorkspace !== null) this.#loaded.add(wholeWorkspace.id);
    return ids;
  }

  /** No entities: 2,000 kept the event loop for 40 ms. */
  #page({ sql, values }: Conditions, after: number): Promise<PlaceRow[]> {
    return this.#deps.database.read().execute<PlaceRow[]>(
      `select d."key" as "deviceKey", d.id as "deviceId", p.id as "productId", d.workspace_id as "workspaceId",
         coalesce(d.offline_after_seconds, p.offline_after_seconds) as "offlineAfterSeconds"
       from device d join product p on p."key" = d.product_key
       where ${sql.join(' and ')} and d."key" > ? order by d."key" limit ${PAGE}`,
      [...values, after],
    );
  }

  /** Only changes are told: a device begins with what it was at `since`, one that was just made (null) as never heard. */
  #watch({ offlineAfterSeconds, ...place }: PlaceRow, heard: number | undefined, since: number | null): void {
    const known = this.#watched.get(place.deviceKey);
    if (known === undefined && this.#watched.size >= MAX_WATCHED)
      throw new AppError('OVERLOADED', `More than ${MAX_WATCHED} devices are watched; subscribe to fewer workspaces.`);
    const limitMs = (offlineAfterSeconds ?? DEFAULT_OFFLINE_AFTER_SECONDS) * 1000;
    const heardAt = Math.max(known?.heardAt ?? -Infinity, heard ?? -Infinity);
    const online = known?.online ?? (since !== null && heardAt + limitMs >= since);
    const device = { ...place, limitMs, heardAt, online };
    this.#watched.set(place.deviceKey, device);
    this.#judge(device, known !== undefined && known.limitMs !== limitMs);
  }

  #inTurn(look: () => Promise<void>): void {
    this.#run(look).catch((error: unknown) => this.#deps.onError(error));
  }

  #run(look: () => Promise<void>): Promise<void> {
    const run = this.#turn.then(() => (this.#subscribers.size > 0 ? look() : undefined));
    this.#turn = run.catch(() => {});
    return run;
  }
}

function isOverdue({ heardAt, limitMs }: Watched, now: number): boolean {
  return heardAt + limitMs < now;
}

/** Too many devices are so a second later, too. */
function isWorthARetry(error: unknown): boolean {
  return !(error instanceof AppError && error.code === 'OVERLOADED');
}
