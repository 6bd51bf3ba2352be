import { BoundedStream, type LiveQueue } from '../bounded-stream.ts';
import { type Change, type Cluster, earliestNow } from '../cluster.ts';
import type { Database } from '../database.ts';
import { eachInTurns, giveWay } from '../give-way.ts';
import { placeholders } from '../long-columns.ts';
import type { Feed } from '../measurements/feed.ts';
import type { MeasurementStore } from '../measurements/store.ts';
import { pause } from '../pause.ts';
import type { Conditions } from './device-scan.ts';
import {
  DEVICE_MS,
  isOverdue,
  isWorthARetry,
  limitOf,
  PAGE,
  type PlaceRow,
  readPlaces,
  readProducts,
  type StatusEvent,
  type Watched,
  type WatchedPlace,
  type WholeWorkspace,
} from './status-rows.ts';
import type { Turns } from '../turns.ts';
import { UnreadChanges } from './unread-changes.ts';
import { WatchedDevices } from './watched-devices.ts';

interface StatusWatchDeps {
  database: Database;
  store: MeasurementStore;
  feed: Feed;
  cluster: Cluster;
  now: () => number;
  /** A look at the database that failed; it is tried again a second later. */
  onError: (error: unknown) => void;
}

interface Subscriber {
  workspaceIds: ReadonlySet<string>;
  accepts: (device: WatchedPlace) => boolean;
  /** What changed earlier is told to others only. */
  since: number;
  stream: BoundedStream<StatusEvent>;
}

const [EVERY_MS, MAX_UNREAD] = [1_000, 10_000];

/**
 * Tells when devices go silent and when they are heard again (contract `deviceStatusChanged`), each once. Works from the
 * server's clock and what the database says of the last receipt, so a restart changes nothing. While nobody subscribes
 * nothing is watched.
 */
export class StatusWatch {
  readonly #deps: StatusWatchDeps;
  readonly #subscribers = new Set<Subscriber>();
  readonly #watched = new WatchedDevices();
  /** Workspaces whose devices are in `#watched`. */
  readonly #loaded = new Set<string>();
  /** Those of them of which changes may have been missed. */
  readonly #doubted = new Set<string>();
  readonly #unread = new UnreadChanges();
  /** By the process's clock, which no test moves. */
  #followedAt = -Infinity;
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
      if (this.#subscribers.size > 0) this.#remember(changes);
    });
  }

  /** What changes from now on in these workspaces; ends when returned. OVERLOADED when there are too many devices. */
  async subscribe(
    workspaceIds: readonly string[],
    accepts: (device: WatchedPlace) => boolean,
    { next, spend }: Turns,
  ): Promise<LiveQueue<StatusEvent>> {
    // Whoever leaves and comes again has all of them read again. What changes while it waits is not told.
    await next();
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
        for (const id of workspaceIds) if (!this.#loaded.has(id)) await this.#loadWorkspace({ id, since, spend });
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
    this.#unread.take();
    this.#stirred.clear();
  }

  /** Hears what is recorded, until nobody subscribes any more. */
  async #listen(): Promise<void> {
    const accepts = (deviceKey: number): boolean => this.#watched.get(deviceKey) !== undefined;
    while (this.#timer !== null) {
      const timer = this.#timer;
      try {
        const events = await this.#deps.feed.subscribe({ accepts });
        // The last subscriber has gone meanwhile, and had nothing to end yet.
        if (this.#timer !== timer) return void (await events.return());
        this.#endListening = () => void events.return();
        this.#inTurn(() => this.#ask(this.#watched.all()));
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

  #askStirred(): Promise<void> {
    const stirred = [...this.#stirred];
    this.#stirred.clear();
    return this.#ask(stirred);
  }

  /** Tells when the device's status is another than it was, also now that its limit has changed. */
  #judge(device: Watched, limitChanged = false): void {
    // It was deleted while it was asked.
    if (this.#watched.get(device.deviceKey) !== device) return;
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
    await this.#followUnread();
    await this.#findSilent();
  }

  /** Before a device counts as silent the database is asked: another node may have heard it. */
  async #findSilent(): Promise<void> {
    const now = this.#deps.now();
    const overdue: Watched[] = [];
    await this.#watched.each((device) => device.online && isOverdue(device, now) && overdue.push(device));
    await this.#ask(overdue);
  }

  /** `limits`: new ones, by product. */
  async #ask(devices: Watched[], limits: ReadonlyMap<string, number> | null = null): Promise<void> {
    for (let at = 0; at < devices.length; at += PAGE) {
      if (at > 0) await giveWay();
      const page = devices.slice(at, at + PAGE);
      const heard = await this.#deps.store.lastHeard(page.map(({ deviceKey }) => deviceKey));
      await eachInTurns(page, (device) => {
        device.heardAt = Math.max(device.heardAt, heard.get(device.deviceKey) ?? -Infinity);
        device.limitMs = limits?.get(device.productId) ?? device.limitMs;
        this.#judge(device, limits !== null);
      });
    }
  }

  /** Changes are followed once a second, the first after a quiet second at once. */
  #remember(changes: Change[]): void {
    const wasEmpty = this.#unread.size === 0;
    if (!this.#unread.add(changes)) this.#doubtAll();
    else if (wasEmpty && this.#unread.size > 0 && performance.now() - this.#followedAt >= EVERY_MS)
      this.#inTurn(() => this.#followUnread());
  }

  async #followUnread(): Promise<void> {
    if (this.#unread.size === 0) return;
    const { products, devices } = this.#unread.take();
    try {
      // Devices first: one that has its own limit now does not follow its product's.
      await this.#followDevices(devices);
      await this.#followProducts(products);
    } catch (error) {
      // Asked again a second later.
      if (isWorthARetry(error)) this.#doubtAll();
      throw error;
    } finally {
      this.#followedAt = performance.now();
    }
  }

  async #followDevices(productOf: ReadonlyMap<string, string>): Promise<void> {
    const products = await this.#products(new Set(productOf.values()));
    const changed = [...productOf.keys()].filter((id) => products.isOfInterest(productOf.get(id)!));
    for (let at = 0; at < changed.length; at += PAGE) {
      const ids = new Set(changed.slice(at, at + PAGE));
      const there = await this.#load({ sql: [`d.id in (${placeholders([...ids])})`], values: [...ids] });
      await this.#watched.forget(({ deviceId }) => ids.has(deviceId) && !there.has(deviceId));
    }
  }

  /** Of a product's change only its limit matters here, and that it is gone: no device of it is read for that. */
  async #followProducts(ids: ReadonlySet<string>): Promise<void> {
    const products = await this.#products(ids);
    if (![...ids].some((id) => products.isOfInterest(id))) return;
    await this.#watched.forget(({ productId }) => ids.has(productId) && !products.limits.has(productId));
    const now = this.#deps.now();
    const turning: Watched[] = [];
    await this.#watched.each((device) => {
      const limitMs = products.limits.get(device.productId);
      if (limitMs === undefined || device.hasOwnLimit || device.limitMs === limitMs) return;
      if (isOverdue({ ...device, limitMs }, now) === device.online) turning.push(device);
      else device.limitMs = limitMs;
    });
    await this.#ask(turning, products.limits);
  }

  /** Of interest are those of watched workspaces, and those that are gone: whose they were is not known any more. */
  async #products(
    asked: ReadonlySet<string>,
  ): Promise<{ limits: Map<string, number>; isOfInterest: (id: string) => boolean }> {
    const rows = await readProducts(this.#deps.database, [...asked]);
    const limits = new Map(rows.map(({ id, offlineAfterSeconds }) => [id, limitOf(offlineAfterSeconds)]));
    const unwatched = new Set(rows.filter(({ workspaceId }) => !this.#loaded.has(workspaceId)).map(({ id }) => id));
    return { limits, isOfInterest: (id) => !unwatched.has(id) };
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
        const there = await this.#loadWorkspace({ id, since: this.#deps.now(), spend: () => {} });
        await this.#watched.forget(({ deviceId, workspaceId }) => workspaceId === id && !there.has(deviceId));
      } catch (error) {
        if (isWorthARetry(error)) this.#doubted.add(id);
        throw error;
      }
    }
  }

  async #loadWorkspace(workspace: WholeWorkspace): Promise<Set<string>> {
    const { id } = workspace;
    try {
      return await this.#load({ sql: ['d.workspace_id = ?'], values: [id] }, workspace);
    } catch (error) {
      if (!this.#loaded.has(id)) await this.#watched.forget(({ workspaceId }) => workspaceId === id);
      throw error;
    }
  }

  /** Reads devices of watched workspaces (all of `wholeWorkspace`, when given); returns the ids that are there. */
  async #load(where: Conditions, wholeWorkspace: WholeWorkspace | null = null): Promise<Set<string>> {
    const ids = new Set<string>();
    const timer = this.#timer;
    for (let after = 0; ;) {
      const rows = await readPlaces(this.#deps.database, where, after);
      const heard = await this.#deps.store.lastHeard(rows.map(({ deviceKey }) => deviceKey));
      wholeWorkspace?.spend(rows.length * DEVICE_MS);
      await eachInTurns(rows, (row) => {
        ids.add(row.deviceId);
        if (wholeWorkspace !== null || this.#loaded.has(row.workspaceId))
          this.#watch(row, heard.get(row.deviceKey), wholeWorkspace?.since ?? null);
      });
      if (rows.length < PAGE) break;
      after = rows.at(-1)!.deviceKey;
      await giveWay();
    }
    // Unless all was forgotten meanwhile: what was read before that is not there any more.
    if (wholeWorkspace !== null && this.#timer === timer) this.#loaded.add(wholeWorkspace.id);
    return ids;
  }

  /** Only changes are told: a device begins with what it was at `since`, one that was just made (null) as never heard. */
  #watch({ ownSeconds, productSeconds, ...place }: PlaceRow, heard: number | undefined, since: number | null): void {
    const known = this.#watched.get(place.deviceKey);
    const limitMs = limitOf(ownSeconds ?? productSeconds);
    const heardAt = Math.max(known?.heardAt ?? -Infinity, heard ?? -Infinity);
    const online = known?.online ?? (since !== null && heardAt + limitMs >= since);
    const limitChanged = known !== undefined && known.limitMs !== limitMs;
    // One that is known stays the same object: it may be among those that are to be asked.
    const device = Object.assign(known ?? {}, place, { limitMs, hasOwnLimit: ownSeconds !== null, heardAt, online });
    if (known === undefined && !this.#watched.add(device)) {
      // It was just made: nobody else's changes are left out for it.
      if (since === null) return;
      throw this.#watched.tooMany();
    }
    this.#judge(device, limitChanged);
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
