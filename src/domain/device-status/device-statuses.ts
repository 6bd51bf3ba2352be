import { AppError } from '../../errors.ts';
import { Alarm } from '../../scheduling/alarm.ts';
import type { LiveQueue } from '../../scheduling/bounded-stream.ts';
import { NOBODY } from '../../scheduling/caller.ts';
import { runAs } from '../../scheduling/current-caller.ts';
import { EventLoopQueue } from '../../scheduling/event-loop-queue.ts';
import { LANES } from '../../scheduling/lanes.ts';
import { pause } from '../../scheduling/pause.ts';
import { yieldToEventLoop } from '../../scheduling/yield-to-event-loop.ts';
import type { Conditions } from '../devices/device-scan.ts';
import type { RecordedFeed } from '../live/recorded-feed.ts';
import type { RecordedEvent } from '../live/recorded-event.ts';
import type { Change } from '../ports/cluster.ts';
import type { Database } from '../ports/database.ts';
import type { MeasurementStore } from '../ports/store.ts';
import { limitOf } from '../devices/offline-after.ts';
import { oneOf, PAGE, readLimits, readStatusRows, type StatusRow } from './status-rows.ts';
import { isOverdue, type StatusChange, turn, type Watched } from './watched-device.ts';
import { must } from '../../must.ts';

/** Where statuses come from. */
export interface StatusSources {
  database: Database;
  store: MeasurementStore;
  feed: RecordedFeed;
  now: () => number;
  /** Told of a read that failed; it is repeated a second later. */
  onError: (error: unknown) => void;
}

interface DeviceStatusesDeps extends StatusSources {
  /** Called in the order of the changes, the next time when it has resolved. */
  notify: (changes: readonly StatusChange[]) => Promise<void>;
  /** Maximum devices watched at once. */
  maxWatched: number;
}

interface Workspace {
  id: string;
  devices: number;
  /** Resolves when all its devices are watched. */
  loading: Promise<void>;
  isLoaded: boolean;
  /** Changes in it may have been missed. */
  isDoubted: boolean;
}

/** Pause between two looks for what has changed. */
const EVERY_MS = 1_000;
/** Maximum doubtful devices and products; beyond it all are read again. */
const MAX_DOUBTFUL = 500_000;
/** Processor time to read a device. */
const DEVICE_MS = 0.02;
/** Devices visited in one piece. */
const SLICE = 10_000;

/**
 * Statuses of all devices of the watched workspaces. Devices become doubtful when they are silent and the feed says that
 * they sent something, when they are overdue, and when they or their limits change. Then the database decides: another
 * node may have heard them, and an import is no sign of life. Pages are read one by one, workspaces in turns.
 */
export class DeviceStatuses {
  readonly #deps: DeviceStatusesDeps;
  readonly #workspaces = new Map<string, Workspace>();
  readonly #watched = { byKey: new Map<number, Watched>(), byId: new Map<string, Watched>() };
  /** Ids of devices, watched or just made, and of products whose limits may be others. */
  readonly #doubtful = { devices: new Set<string>(), products: new Set<string>() };
  readonly #pages = new EventLoopQueue(LANES.statusPages);
  readonly #alarm = new Alarm();
  /** Subscription to what is recorded, or the attempt at one; null: it has failed. */
  #listening: Promise<LiveQueue<RecordedEvent>> | null = null;
  #isOver = false;

  constructor(deps: DeviceStatusesDeps) {
    this.#deps = deps;
    void runAs(NOBODY, () => this.#run());
  }

  end(): void {
    this.#isOver = true;
    this.#alarm.ring();
    void this.#listening?.then((events) => events.return()).catch(() => {});
  }

  /** Watches all devices of the workspace, which begin with what they were at `since`; OVERLOADED when they are too many. */
  watch(id: string, since: number, spend: (milliseconds: number) => void): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    let workspace = this.#workspaces.get(id);
    if (workspace === undefined) {
      workspace = { id, devices: 0, loading: Promise.resolve(), isLoaded: false, isDoubted: false };
      this.#workspaces.set(id, workspace);
      workspace.loading = this.#load(workspace, since, spend);
    }
    return workspace.loading;
  }

  /** Follows what has changed, at the next look. */
  follow(changes: readonly Change[]): void {
    for (const change of changes) {
      if (change.kind === 'everything') this.#doubtAll();
      else if (change.kind === 'product') this.#doubtful.products.add(change.id);
      else if (
        change.kind === 'devices' &&
        (change.workspaceId === undefined || this.#workspaces.has(change.workspaceId))
      )
        for (const id of change.ids) this.#doubtful.devices.add(id);
    }
    if (this.#doubtful.devices.size + this.#doubtful.products.size <= MAX_DOUBTFUL) return;
    this.#doubtful.devices.clear();
    this.#doubtful.products.clear();
    this.#doubtAll();
  }

  #doubtAll(): void {
    for (const workspace of this.#workspaces.values()) workspace.isDoubted = true;
  }

  async #load(workspace: Workspace, since: number, spend: (milliseconds: number) => void): Promise<void> {
    try {
      // First, so that nothing is recorded unheard behind what is read.
      await this.#listen();
      await this.#readAll(workspace, since, spend);
    } catch (error) {
      await this.#forgetOf(workspace);
      this.#workspaces.delete(workspace.id);
      throw error;
    }
  }

  #listen(): Promise<LiveQueue<RecordedEvent>> {
    const subscribe = async (): Promise<LiveQueue<RecordedEvent>> => {
      const events = await this.#deps.feed.subscribe({ accepts: (deviceKey) => this.#silent(deviceKey) !== null });
      void this.#hearAll(events);
      return events;
    };
    this.#listening ??= subscribe().catch((error: unknown) => {
      this.#listening = null;
      throw error;
    });
    return this.#listening;
  }

  /** Hears until the feed fails: what is recorded from then on is missed. */
  async #hearAll(events: LiveQueue<RecordedEvent>): Promise<void> {
    try {
      for await (const { deviceKey } of events) {
        const device = this.#silent(deviceKey);
        if (device === null) continue;
        this.#doubtful.devices.add(device.deviceId);
        this.#alarm.ring();
      }
    } catch (error) {
      this.#deps.onError(error);
    }
    this.#listening = null;
    this.#doubtAll();
  }

  /** The device, if its status may change when it is heard. An overdue one may be asked for already, as it was before that. */
  #silent(deviceKey: number): Watched | null {
    const device = this.#watched.byKey.get(deviceKey);
    return device !== undefined && !(device.online && !isOverdue(device, this.#deps.now())) ? device : null;
  }

  /** Looks each second, and asks for silent devices as soon as they are heard. */
  async #run(): Promise<void> {
    let lookAt = -Infinity;
    while (!this.#isOver) {
      try {
        const from = performance.now();
        if (from >= lookAt) {
          await this.#look();
          // Rests at least as long as that took: there may be very much to read again.
          lookAt = Math.max(from + EVERY_MS, 2 * performance.now() - from);
        }
        await this.#readDoubtful();
        if (this.#doubtful.devices.size === 0) await this.#alarm.sleep(Math.max(0, lookAt - performance.now()));
      } catch (error) {
        this.#deps.onError(error);
        await pause(EVERY_MS);
      }
    }
  }

  async #look(): Promise<void> {
    await this.#listen();
    for (const workspace of this.#workspaces.values())
      if (workspace.isLoaded && workspace.isDoubted) await this.#readAll(workspace, this.#deps.now());
    await this.#followLimits();
    const now = this.#deps.now();
    await this.#each(
      (device) => device.online && isOverdue(device, now) && this.#doubtful.devices.add(device.deviceId),
    );
  }

  /** Reads all devices of the workspace, and forgets those that are gone. */
  async #readAll(workspace: Workspace, since: number, spend?: (milliseconds: number) => void): Promise<void> {
    const there = new Set<number>();
    const where = oneOf('d.workspace_id', [workspace.id]);
    workspace.isDoubted = false;
    try {
      for (let after: number | null = 0; after !== null && !this.#isOver;) {
        const last: number = after;
        const rows = await this.#page(workspace.id, () => this.#read(where, since, last));
        for (const { deviceKey } of rows) there.add(deviceKey);
        spend?.(rows.length * DEVICE_MS);
        after = rows.length < PAGE ? null : must(rows.at(-1)).deviceKey;
      }
    } catch (error) {
      workspace.isDoubted = true;
      throw error;
    }
    await this.#forgetOf(workspace, there);
    workspace.isLoaded = true;
  }

  /** Of changed products their limits count alone: only devices whose status those turn are read. */
  async #followLimits(): Promise<void> {
    for (const ids of pagesOf([...this.#doubtful.products])) {
      for (const id of ids) this.#doubtful.products.delete(id);
      const limits = await this.#page(NOBODY.tenant, () => readLimits(this.#deps.database, ids)).catch((error) => {
        for (const id of ids) this.#doubtful.products.add(id);
        throw error;
      });
      const now = this.#deps.now();
      await this.#each((device) => {
        const limitMs = limits.get(device.productId);
        if (limitMs === undefined || device.hasOwnLimit) return;
        if (isOverdue({ ...device, limitMs }, now) === device.online) this.#doubtful.devices.add(device.deviceId);
        else device.limitMs = limitMs;
      });
    }
  }

  /** Reads them, first those of workspaces with few, for no longer than a second. */
  async #readDoubtful(): Promise<void> {
    const byWorkspace = Map.groupBy(this.#doubtful.devices, (id) => this.#watched.byId.get(id)?.workspaceId).values();
    const ids = [...byWorkspace].sort((some, others) => some.length - others.length).flat();
    const until = performance.now() + EVERY_MS;
    for (const page of pagesOf(ids)) {
      if (this.#isOver || performance.now() >= until) return;
      await this.#page(NOBODY.tenant, () => this.#readPage(page));
    }
  }

  async #readPage(ids: readonly string[]): Promise<void> {
    // One that is heard while it is read is doubtful again.
    for (const id of ids) this.#doubtful.devices.delete(id);
    try {
      const there = new Set((await this.#read(oneOf('d.id', ids), null)).map(({ deviceId }) => deviceId));
      for (const id of ids) if (!there.has(id)) this.#forget(this.#watched.byId.get(id));
    } catch (error) {
      for (const id of ids) this.#doubtful.devices.add(id);
      throw error;
    }
  }

  /**
   * Reads devices and when they were heard, and judges them. One that is not known begins with what it was at `since`; null:
   * it was just made, never heard.
   */
  async #read(where: Conditions, since: number | null, after?: number): Promise<StatusRow[]> {
    const found = await readStatusRows(this.#deps.database, where, after);
    const rows = found.filter(({ workspaceId }) => this.#workspaces.has(workspaceId));
    const heard = await this.#deps.store.lastHeard(rows.map(({ deviceKey }) => deviceKey));
    const changes: StatusChange[] = [];
    for (const { ownSeconds, productSeconds, ...place } of rows) {
      const limit = { limitMs: limitOf(ownSeconds ?? productSeconds), hasOwnLimit: ownSeconds !== null };
      const heardAt = heard.get(place.deviceKey) ?? -Infinity;
      const known = this.#watched.byKey.get(place.deviceKey);
      const online = since !== null && heardAt + limit.limitMs >= since;
      const device = known ?? this.#add({ ...place, ...limit, heardAt, online }, since);
      if (device === null) continue;
      const isNewLimit = device.limitMs !== limit.limitMs;
      Object.assign(device, place, limit, { heardAt: Math.max(device.heardAt, heardAt) });
      const now = this.#deps.now();
      if (isOverdue(device, now) === device.online) changes.push(turn(device, now, isNewLimit));
      // What it has sent since it was asked for was nobody's news.
      else if (known === undefined && !device.online) this.#doubtful.devices.add(device.deviceId);
    }
    if (changes.length > 0 && !this.#isOver) await this.#deps.notify(changes);
    return rows;
  }

  /**
   * Watches one more device; null: it does not. A workspace has at most half of what the others leave free, so that a small
   * one always finds room.
   */
  #add(device: Watched, since: number | null): Watched | null {
    const workspace = this.#workspaces.get(device.workspaceId);
    if (workspace === undefined) return null;
    if (since === null && !workspace.isLoaded) {
      // What it was at first is not known until its page is read.
      workspace.isDoubted = true;
      return null;
    }
    if (workspace.devices >= (this.#deps.maxWatched - (this.#watched.byKey.size - workspace.devices)) / 2) {
      if (workspace.isLoaded) return null;
      // A number would say how many devices others have.
      throw new AppError('OVERLOADED', 'There are more devices in the workspace than can be watched; ask `devices`.');
    }
    workspace.devices += 1;
    this.#watched.byKey.set(device.deviceKey, device);
    this.#watched.byId.set(device.deviceId, device);
    return device;
  }

  #forget(device: Watched | undefined): void {
    if (device === undefined) return;
    this.#watched.byKey.delete(device.deviceKey);
    this.#watched.byId.delete(device.deviceId);
    must(this.#workspaces.get(device.workspaceId)).devices -= 1;
  }

  #forgetOf({ id }: Workspace, there: ReadonlySet<number> = new Set()): Promise<void> {
    return this.#each((device) => {
      if (device.workspaceId === id && !there.has(device.deviceKey)) this.#forget(device);
    });
  }

  async #each(visit: (device: Watched) => unknown): Promise<void> {
    let visited = 0;
    for (const device of this.#watched.byKey.values()) {
      visit(device);
      if (++visited % SLICE === 0) await yieldToEventLoop();
    }
  }

  /** Does the work for one page: one at a time, tenants in turns. */
  #page<T>(tenant: string, work: () => Promise<T>): Promise<T> {
    return runAs({ tokenId: '', tenant }, () => this.#pages.run(work));
  }
}

function pagesOf<Item>(items: readonly Item[]): Item[][] {
  return Array.from({ length: Math.ceil(items.length / PAGE) }, (_, at) => items.slice(at * PAGE, (at + 1) * PAGE));
}
