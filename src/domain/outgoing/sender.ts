import { randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/sql';
import { Alarm } from '../../scheduling/alarm.ts';
import { pause } from '../../scheduling/pause.ts';
import type { Cluster } from '../ports/cluster.ts';
import type { Database } from '../ports/database.ts';
import type { Transmitter } from '../ports/transmitter.ts';
import { DeliveryExchange, type Settled, type TakenDelivery, type Target } from './delivery-exchange.ts';
import type { DeliveryFeed } from './delivery-feed.ts';
import { CALLS_PER_ENDPOINT, EndpointLine } from './endpoint-line.ts';
import { type Health, noteHealth, type SwitchedOff } from './endpoint-health.ts';
import type { FiringAlerts } from './firing-alerts.ts';
import { managedAlerts } from './alertmanager.ts';
import { delayBehind } from './retry-times.ts';
import { isGone, transmit, type Tried } from './transmit.ts';

/** Maximum calls at once per node, per workspace, and to receivers that do not answer. */
const MAX_CALLS = 256;
const MAX_CALLS_PER_WORKSPACE = 16;
const MAX_AILING_CALLS = 64;
/** How often a node looks for what others wrote, and one that is alone for what it missed. */
const LOOK_SHARED_MS = 2_000;
const LOOK_ALONE_MS = 60_000;
/** Delay after a failed look: the database may be away. */
const FAILED_MS = 1_000;
/** Least time between two looks, and behind one that changed something: what comes together goes together. */
const REST_MS = 5;
const BUSY_REST_MS = 20;
/** Maximum endpoints from which one transaction takes deliveries. */
const LINES_AT_ONCE = 50;
/** Maximum time that a stop waits for calls in progress; what they deliver may be sent again. */
const STOP_MS = 3_000;
const STOP_LOOK_MS = 100;

/** What the sender tells the metrics and the log. */
export interface SenderWatch {
  onTried: (outcome: 'delivered' | 'failed' | 'dead') => void;
  onSwitchedOff: (off: SwitchedOff) => void;
  onError: (error: unknown) => void;
}

/** The services that the sender needs. */
export interface SenderDeps extends SenderWatch {
  database: Database;
  cluster: Pick<Cluster, 'shared'>;
  transmitter: Transmitter;
  feed: DeliveryFeed;
  firing: FiringAlerts;
  /** Writes the audit entry of an endpoint that was switched off. */
  tellAudit: (em: EntityManager, off: SwitchedOff) => Promise<void>;
  now: () => number;
}

/** The end of a try that is not written down yet. */
interface Ended {
  line: EndpointLine;
  delivery: TakenDelivery;
  tried: Tried;
}

/** What one transaction of the sender came to. */
interface Exchanged {
  /** Each endpoint with something to send → the time of the next, before it was taken. */
  times: Map<number, number>;
  /** Others are due as well. */
  isMore: boolean;
  targets: Target[];
  /** By the key of the endpoint. */
  taken: Map<number, TakenDelivery[]>;
  off: SwitchedOff[];
}

/**
 * Sends what the outbox holds (CONTRACT 13): in the order of each endpoint and device, a few calls at once for each
 * endpoint and workspace, tried again by `retry-times`. Nodes share the work by leases; a message is sent at least once.
 */
export class Sender {
  readonly #deps: SenderDeps;
  readonly #exchange: DeliveryExchange;
  readonly #alarm = new Alarm();
  readonly #lines = new Map<number, EndpointLine>();
  /** The last endpoint that deliveries were taken of: the next one begins. */
  #lastKey = 0;
  #ended: Ended[] = [];
  #running: Promise<void> | null = null;
  #stopBy = Infinity;

  constructor(deps: SenderDeps) {
    this.#deps = deps;
    this.#exchange = new DeliveryExchange(deps.database, randomUUID());
  }

  /** Begins to send; what a process before this one had taken is sent at once if there is no other node. */
  start(): void {
    this.#running = this.#run();
  }

  /** Looks now instead of later. */
  wake(): void {
    this.#alarm.ring();
  }

  /** Waits a little for calls in progress, writes down how they ended, and gives the rest back. */
  async stop(): Promise<void> {
    this.#stopBy = performance.now() + STOP_MS;
    this.#alarm.ring();
    await this.#running;
  }

  get #isStopping(): boolean {
    return this.#stopBy < Infinity;
  }

  /** Whether there is something to do, or may be. */
  get #goesOn(): boolean {
    if (!this.#isStopping) return true;
    return performance.now() < this.#stopBy && (this.#ended.length > 0 || this.#calls() > 0);
  }

  async #run(): Promise<void> {
    const { database, cluster, now, onError } = this.#deps;
    let isFirst = !cluster.shared;
    while (this.#goesOn) {
      try {
        if (isFirst) await database.write((em) => this.#exchange.takeOver(em, now()));
        isFirst = false;
        const { restMs, isBusy } = await this.#look();
        await this.#alarm.sleep(this.#isStopping ? STOP_LOOK_MS : restMs);
        await pause(isBusy ? BUSY_REST_MS : REST_MS);
      } catch (error) {
        onError(error);
        if (this.#isStopping) break;
        await pause(FAILED_MS);
      }
    }
    await this.#giveAllBack().catch(onError);
  }

  /** Writes down what ended, takes what is due, and begins to send it; tells the ms until there may be more. */
  async #look(): Promise<{ restMs: number; isBusy: boolean }> {
    const { database, cluster, now } = this.#deps;
    const ended = this.#ended.splice(0);
    // Kept until its failure is written down.
    for (const { line } of ended) this.#lines.set(line.target.key, line);
    const returned = [...this.#lines.values()].flatMap((line) => line.giveBack(now()));
    let times = new Map<number, number>();
    let isMore = false;
    if (!this.#isStopping && ended.length + returned.length === 0)
      times = await this.#exchange.nextTimes(database.read());
    const isBusy = ended.length + returned.length + this.#due(times).length > 0;
    if (isBusy) {
      const exchanging = database.write((em) => this.#exchangeWithin(em, ended, returned));
      const exchanged = await exchanging.catch((error: unknown) => {
        this.#ended.unshift(...ended);
        throw error;
      });
      ({ times, isMore } = exchanged);
      for (const target of exchanged.targets) this.#lineOf(target).add(exchanged.taken.get(target.key) ?? []);
      this.#tell(ended, exchanged.off);
    }
    this.#sendMore();
    if (isMore) return { restMs: REST_MS, isBusy };
    const at = now();
    // What is due and was not taken has no room: a call ends first, and that rings.
    const later = [...times].flatMap(([key, next]) => (next > at ? [next] : this.#pauseOf(key, at)));
    const idleMs = cluster.shared ? LOOK_SHARED_MS : LOOK_ALONE_MS;
    return { restMs: Math.min(idleMs, ...later.map((next) => Math.max(REST_MS, next - at))), isBusy };
  }

  async #exchangeWithin(
    em: EntityManager,
    ended: readonly Ended[],
    returned: readonly TakenDelivery[],
  ): Promise<Exchanged> {
    const { firing, now } = this.#deps;
    const at = now();
    const settled = ended.map(({ delivery, tried }) => settledOf(delivery, tried, at));
    await this.#exchange.settle(em, settled, at);
    await this.#exchange.release(em, returned, at);
    const times = this.#isStopping ? new Map<number, number>() : await this.#exchange.nextTimes(em);
    const all = this.#due(times);
    const due = new Set(this.#inTurn(all));
    const triesOf = Map.groupBy(ended, ({ delivery }) => delivery.endpointKey);
    const targets = await this.#exchange.targets(em, [...new Set([...due, ...triesOf.keys()])], at);
    const off: SwitchedOff[] = [];
    const taken = new Map<number, TakenDelivery[]>();
    for (const target of targets) {
      const { key } = target;
      if (target.kind === 'ALERTMANAGER')
        for (const { delivery, tried } of triesOf.get(key) ?? [])
          if (tried.result.isDone) await firing.note(em, key, managedAlerts(delivery.body, at), at);
      const switchedOff = await noteHealth(em, target, healthOf(triesOf.get(key) ?? []), at);
      if (switchedOff !== null) {
        await this.#deps.tellAudit(em, switchedOff);
        off.push(switchedOff);
        target.enabled = false;
      }
      if (target.enabled && due.has(key)) taken.set(key, await this.#exchange.take(em, key, this.#roomOf(key, at), at));
    }
    return { times, isMore: all.length > due.size, targets, taken, off };
  }

  /** Those endpoints with something due that may take more. */
  #due(times: ReadonlyMap<number, number>): number[] {
    const at = this.#deps.now();
    return [...times].flatMap(([key, next]) => {
      const line = this.#lines.get(key);
      const isFull = this.#roomOf(key, at) === 0 || (line !== undefined && !this.#mayCall(line));
      return next <= at && !isFull ? [key] : [];
    });
  }

  /** Some of the endpoints, behind the last one that had its turn: however many hang, each comes to its turn. */
  #inTurn(keys: readonly number[]): number[] {
    const sorted = keys.toSorted((a, b) => a - b);
    const behind = sorted.filter((key) => key > this.#lastKey);
    const chosen = [...behind, ...sorted.slice(0, sorted.length - behind.length)].slice(0, LINES_AT_ONCE);
    this.#lastKey = chosen.at(-1) ?? this.#lastKey;
    return chosen;
  }

  #tell(ended: readonly Ended[], off: readonly SwitchedOff[]): void {
    const { feed, onTried, onSwitchedOff } = this.#deps;
    for (const { tried, delivery } of ended)
      onTried(tried.result.isDone ? 'delivered' : isLast(delivery, tried) ? 'dead' : 'failed');
    for (const switchedOff of off) onSwitchedOff(switchedOff);
    feed.publish(ended.map(({ delivery: { endpointKey, id } }) => ({ endpointKey, id })));
  }

  #lineOf(target: Target): EndpointLine {
    let line = this.#lines.get(target.key);
    if (line === undefined) this.#lines.set(target.key, (line = new EndpointLine(target)));
    line.target = target;
    return line;
  }

  #sendMore(): void {
    const at = this.#deps.now();
    const lines = [...this.#lines];
    for (const [key, line] of lines) {
      // One of a line in turn: none takes all places.
      while (this.#mayCall(line)) {
        const delivery = line.target.enabled ? line.next(at) : null;
        if (delivery === null) break;
        void this.#send(line, delivery);
      }
      // One that has no place for a call is known, so that others are taken.
      if (line.isIdle && at >= line.pausedUntil && this.#mayCall(line)) this.#lines.delete(key);
      else {
        this.#lines.delete(key);
        this.#lines.set(key, line);
      }
    }
  }

  async #send(line: EndpointLine, delivery: TakenDelivery): Promise<void> {
    const { transmitter, now } = this.#deps;
    line.running += 1;
    const tried = await transmit(transmitter, line.target, delivery, now);
    line.running -= 1;
    const { isDone, httpStatus, retryAfterMs } = tried.result;
    line.isAiling = !isDone && (httpStatus === null || httpStatus === 429 || httpStatus >= 500);
    if (line.isAiling && httpStatus !== null && retryAfterMs !== null) line.pausedUntil = now() + retryAfterMs;
    this.#ended.push({ line, delivery, tried });
    if (!this.#isStopping) this.#sendMore();
    this.#alarm.ring();
  }

  #calls(): number {
    let calls = 0;
    for (const { running } of this.#lines.values()) calls += running;
    return calls;
  }

  #mayCall({ target, isAiling }: EndpointLine): boolean {
    let [all, ofWorkspace, ailing] = [0, 0, 0];
    for (const line of this.#lines.values()) {
      all += line.running;
      if (line.isAiling) ailing += line.running;
      if (line.target.workspaceId === target.workspaceId) ofWorkspace += line.running;
    }
    return all < MAX_CALLS && ofWorkspace < MAX_CALLS_PER_WORKSPACE && !(isAiling && ailing >= MAX_AILING_CALLS);
  }

  /** How many deliveries of the endpoint may be taken. */
  #roomOf(key: number, at: number): number {
    return this.#lines.get(key)?.room(at) ?? CALLS_PER_ENDPOINT;
  }

  #pauseOf(key: number, at: number): number[] {
    const until = this.#lines.get(key)?.pausedUntil ?? 0;
    return until > at ? [until] : [];
  }

  async #giveAllBack(): Promise<void> {
    const rest = [...this.#lines.values()].flatMap((line) => line.empty());
    this.#lines.clear();
    if (rest.length > 0) await this.#deps.database.write((em) => this.#exchange.release(em, rest, this.#deps.now()));
  }
}

/** A delivery of an endpoint that is gone waits on, should it be switched on again. */
function settledOf(delivery: TakenDelivery, { result, attempt }: Tried, at: number): Settled {
  if (result.isDone) return { delivery, status: 'DELIVERED', attempt, nextAt: at };
  if (isGone(result)) return { delivery, status: 'WAITING', attempt, nextAt: at };
  const delay = delayBehind(delivery.tries + 1, result.retryAfterMs);
  return { delivery, status: delay === null ? 'DEAD' : 'WAITING', attempt, nextAt: at + (delay ?? 0) };
}

function isLast({ tries }: TakenDelivery, { result }: Tried): boolean {
  return !isGone(result) && delayBehind(tries + 1, null) === null;
}

function healthOf(ended: readonly Ended[]): Health {
  const results = ended.map(({ tried }) => tried.result);
  return {
    hasSucceeded: results.some(({ isDone }) => isDone),
    hasFailed: results.some(({ isDone }) => !isDone),
    isGone: results.some(isGone),
  };
}
