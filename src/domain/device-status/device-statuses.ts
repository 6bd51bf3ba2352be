import type { Change } from '../ports/cluster.ts';
import type { Database } from '../ports/database.ts';
import { placeholders } from '../sql/long-columns.ts';
import { EventLoopQueue } from '../../scheduling/event-loop-queue.ts';
import type { MeasurementStore } from '../ports/store.ts';
import { NOBODY } from '../../scheduling/caller.ts';
import { SingleFlight } from '../../scheduling/single-flight.ts';
import { runAs } from '../../scheduling/current-caller.ts';
import { changeOfDevices } from '../devices/change-of-devices.ts';
import type { Conditions } from '../devices/device-scan.ts';
import {
  DEVICE_MS,
  isOverdue,
  isWorthARetry,
  limitOf,
  PAGE,
  type PlaceRow,
  readPlaces,
  readProducts,
  smallestFirst,
  type Watched,
  type WholeWorkspace,
} from './status-rows.ts';
import { StatusJudge } from './status-judge.ts';
import { StatusTelling, type TellStatus } from './status-telling.ts';
import { UnreadChanges } from './unread-changes.ts';
import { WatchedDevices } from './watched-devices.ts';

/** So often it is looked who is silent. */
export const EVERY_MS = 1_000;

interface DeviceStatusesDeps {
  database: Database;
  store: MeasurementStore;
  now: () => number;
  /** A look at the database that failed; it is tried again a second later. */
  onError: (error: unknown) => void;
  tell: TellStatus;
}

interface AskOptions {
  /** New ones, by product. */
  limits?: ReadonlyMap<string, number> | null;
  /** Those that are left then are not asked for. */
  until?: number;
}

/**
 * The devices that are watched, with what is known of them. It is read page by page, of each workspace in its turn, and
 * each is taken in before the next is read, so that nothing is overwritten by what was read earlier.
 */
export class DeviceStatuses {
  readonly #deps: DeviceStatusesDeps;
  readonly #watched = new WatchedDevices();
  readonly #judge: StatusJudge;
  readonly #telling: StatusTelling;
  /** Workspaces whose devices are in `#watched`, and those that are read for the first time. */
  readonly #loaded = new Set<string>();
  readonly #beingLoaded = new Set<string>();
  readonly #loads = new SingleFlight<void>();
  /** Those of them of which changes may have been missed. */
  readonly #doubted = new Set<string>();
  readonly #unread = new UnreadChanges();
  /** By the process's clock, which no test moves. */
  #followedAt = -Infinity;
  #loadsDoubtedAt = -Infinity;
  /** Silent ones of which something was stored. */
  readonly #stirred = new Set<Watched>();
  readonly #pages = new EventLoopQueue(5);
  /** How often a workspace was read. */
  #readings = 0;
  /** What is under way. */
  readonly #jobs = new Set<string>();
  #isOver = false;

  constructor(deps: DeviceStatusesDeps) {
    this.#deps = deps;
    const { now, tell } = deps;
    this.#telling = new StatusTelling(tell);
    this.#judge = new StatusJudge({ watched: this.#watched, now, tell: (...turned) => this.#telling.add(...turned) });
  }

  /** Nobody is told any more. */
  end(): void {
    this.#isOver = true;
    this.#telling.end();
  }

  isWatched(deviceKey: number): boolean {
    return this.#watched.get(deviceKey) !== undefined;
  }

  /** From now on all devices of the workspace are watched; OVERLOADED when they are too many. */
  load(workspace: WholeWorkspace): Promise<void> {
    const { id } = workspace;
    if (this.#loaded.has(id)) return Promise.resolve();
    return this.#loads.of(id, async () => {
      this.#beingLoaded.add(id);
      try {
        await this.#loadWorkspace(workspace);
        this.#loaded.add(id);
      } catch (error) {
        this.#doubted.delete(id);
        await this.#watched.forget(() => true, id);
        throw error;
      } finally {
        this.#beingLoaded.delete(id);
      }
    });
  }

  /** Each second. */
  look(): void {
    if (this.#doubted.size > 0 && performance.now() >= this.#loadsDoubtedAt)
      this.#begin('loading', () => this.#loadDoubted());
    if (this.#unread.size > 0) this.#begin('following', () => this.#followUnread());
    this.#begin('looking', () => this.#findSilent());
    if (this.#stirred.size > 0) this.#begin('asking', () => this.#askStirred());
  }

  /** What was stored of them before may not have been heard. */
  stirAll(): void {
    this.#begin('stirring', async () => {
      await this.#watched.each((device) => device.online || this.#stirred.add(device));
      this.#begin('asking', () => this.#askStirred());
    });
  }

  /** Something of the device was stored: whether it sent that itself, and when, is in the database. */
  hear(deviceKey: number): void {
    const device = this.#watched.get(deviceKey);
    // One that is overdue may be being asked for, and was before this.
    if (device === undefined || (device.online && !isOverdue(device, this.#deps.now()))) return;
    this.#stirred.add(device);
    this.#begin('asking', () => this.#askStirred());
  }

  /** Changes are followed once a second, the first after a quiet second at once. */
  remember(changes: Change[]): void {
    const wasEmpty = this.#unread.size === 0;
    if (changes.some(({ kind }) => kind === 'everything')) this.#doubtAll();
    this.#remember(changes);
    if (wasEmpty && this.#unread.size > 0 && performance.now() - this.#followedAt >= EVERY_MS)
      this.#begin('following', () => this.#followUnread());
  }

  #remember(changes: Change[]): void {
    if (!this.#unread.add(changes)) this.#doubtAll();
  }

  /** Before a device counts as silent the database is asked: another node may have heard it. */
  async #findSilent(): Promise<void> {
    const now = this.#deps.now();
    const overdue = new Map<string, Watched[]>();
    await this.#watched.each((device) => {
      if (!device.online || !isOverdue(device, now)) return;
      const others = overdue.get(device.workspaceId);
      if (others === undefined) overdue.set(device.workspaceId, [device]);
      else others.push(device);
    });
    // Whoever is not asked for until then is found again, behind those of workspaces with fewer.
    const until = performance.now() + EVERY_MS;
    await this.#ask(smallestFirst(overdue), { until });
  }

  async #askStirred(): Promise<void> {
    while (this.#stirred.size > 0 && !this.#isOver) {
      const until = performance.now() + EVERY_MS;
      await this.#ask(smallestFirst(Map.groupBy(this.#stirred, ({ workspaceId }) => workspaceId)), { until });
    }
  }

  async #ask(devices: readonly Watched[], { limits = null, until = Infinity }: AskOptions = {}): Promise<void> {
    for (let at = 0; at < devices.length && performance.now() < until && !this.#isOver; at += PAGE)
      await this.#page(NOBODY.tenant, async () => {
        const page = devices.slice(at, at + PAGE);
        for (const device of page) this.#stirred.delete(device);
        try {
          const heard = await this.#deps.store.lastHeard(page.map(({ deviceKey }) => deviceKey));
          await this.#telling.judgeEach(page, (device) => {
            device.heardAt = Math.max(device.heardAt, heard.get(device.deviceKey) ?? -Infinity);
            device.limitMs = limits?.get(device.productId) ?? device.limitMs;
            this.#judge.judge(device, limits !== null);
          });
        } catch (error) {
          // Something may have been stored of any of them.
          for (const device of page) this.#stirred.add(device);
          throw error;
        }
      });
  }

  async #followUnread(): Promise<void> {
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
    for (let at = 0; at < changed.length; at += PAGE)
      await this.#page(NOBODY.tenant, async () => {
        const gone = new Set(changed.slice(at, at + PAGE));
        await this.#read({ sql: [`d.id in (${placeholders([...gone])})`], values: [...gone] }, 0, (row, heard) => {
          gone.delete(row.deviceId);
          const { deviceKey, workspaceId, deviceId } = row;
          if (this.#loaded.has(workspaceId) || this.isWatched(deviceKey))
            this.#judge.take(row, heard, { since: null, reading: this.#readings });
          // What it was when all of them are told from each other is known when its page is read, or was.
          else if (this.#beingLoaded.has(workspaceId)) this.#remember([changeOfDevices(row, [deviceId])]);
        });
        for (const id of gone) this.#watched.forgetOne(id);
      });
  }

  /** Of a product's change only its limit matters here, and that it is gone: no device of it is read for that. */
  async #followProducts(ids: ReadonlySet<string>): Promise<void> {
    const turning: Watched[] = [];
    const limits = await this.#page(NOBODY.tenant, async () => {
      const products = await this.#products(ids);
      if (![...ids].some((id) => products.isOfInterest(id))) return null;
      const now = this.#deps.now();
      await this.#watched.forget(({ productId }) => ids.has(productId) && !products.limits.has(productId));
      await this.#watched.each((device) => {
        const limitMs = products.limits.get(device.productId);
        if (limitMs === undefined || device.hasOwnLimit || device.limitMs === limitMs) return;
        if (isOverdue({ ...device, limitMs }, now) === device.online) turning.push(device);
        else device.limitMs = limitMs;
      });
      return products.limits;
    });
    await this.#ask(turning, { limits });
  }

  /** Of interest are those of watched workspaces, and those that are gone: whose they were is not known any more. */
  async #products(
    asked: ReadonlySet<string>,
  ): Promise<{ limits: Map<string, number>; isOfInterest: (id: string) => boolean }> {
    const rows = await readProducts(this.#deps.database, [...asked]);
    const limits = new Map(rows.map(({ id, offlineAfterSeconds }) => [id, limitOf(offlineAfterSeconds)]));
    const watched = new Set([...this.#loaded, ...this.#beingLoaded]);
    const unwatched = new Set(rows.filter(({ workspaceId }) => !watched.has(workspaceId)).map(({ id }) => id));
    return { limits, isOfInterest: (id) => !unwatched.has(id) };
  }

  #doubtAll(): void {
    for (const id of [...this.#loaded, ...this.#beingLoaded]) this.#doubted.add(id);
  }

  /** Then it rests as long as that took: while Redis is away all are doubted twice a second. */
  async #loadDoubted(): Promise<void> {
    const from = performance.now();
    try {
      // What is doubted meanwhile comes next time.
      for (const id of [...this.#doubted].filter((doubted) => this.#loaded.has(doubted))) {
        this.#doubted.delete(id);
        await this.#loadAgain(id);
      }
    } finally {
      this.#loadsDoubtedAt = 2 * performance.now() - from;
    }
  }

  async #loadAgain(id: string): Promise<void> {
    const reading = this.#readings + 1;
    try {
      await this.#loadWorkspace({ id, since: this.#deps.now(), spend: () => {} });
      await this.#watched.forget((device) => device.reading < reading, id);
    } catch (error) {
      if (isWorthARetry(error)) this.#doubted.add(id);
      throw error;
    }
  }

  async #loadWorkspace({ id, since, spend }: WholeWorkspace): Promise<void> {
    this.#readings += 1;
    for (let after: number | null = 0; after !== null && !this.#isOver;) {
      const last: number = after;
      after = await this.#page(id, async () => {
        const rows = await this.#read({ sql: ['d.workspace_id = ?'], values: [id] }, last, (row, heard) =>
          this.#judge.take(row, heard, { since, reading: this.#readings }),
        );
        spend(rows.length * DEVICE_MS);
        return rows.length < PAGE ? null : rows.at(-1)!.deviceKey;
      });
    }
  }

  /** A page of devices, and when each was heard. */
  async #read(
    where: Conditions,
    after: number,
    take: (row: PlaceRow, heard: number | undefined) => void,
  ): Promise<PlaceRow[]> {
    const rows = await readPlaces(this.#deps.database, where, after);
    const heard = await this.#deps.store.lastHeard(rows.map(({ deviceKey }) => deviceKey));
    await this.#telling.judgeEach(rows, (row) => take(row, heard.get(row.deviceKey)));
    return rows;
  }

  /** One after the other. */
  #page<T>(workspaceId: string, work: () => Promise<T>): Promise<T> {
    return runAs({ tokenId: '', tenant: workspaceId }, () => this.#pages.run(work));
  }

  /** In the background, one of its kind at a time. */
  #begin(kind: string, job: () => Promise<void>): void {
    if (this.#isOver || this.#jobs.has(kind)) return;
    this.#jobs.add(kind);
    runAs(NOBODY, job)
      .catch((error: unknown) => this.#deps.onError(error))
      .finally(() => this.#jobs.delete(kind));
  }
}
