import { NOBODY } from '../../scheduling/caller.ts';
import { Slices } from '../../scheduling/yield-to-event-loop.ts';
import type { RecordedEvent } from '../live/recorded-event.ts';
import type { Judged } from './judged.ts';
import type { DeviceJudging } from './judging.ts';
import type { Judgings } from './judgings.ts';
import type { Rules } from './rule-book.ts';

/** Maximum rules of devices in memory, of some 2 KB each. */
const MAX_JUDGES = 30_000;

/** Devices whose stored values are read at once. */
const READ_AT_ONCE = 16;

/**
 * Devices that are judged again and again, in memory with their states: most values tell nothing new, and many of them
 * are stored by one commit.
 */
export class DevicesInMemory {
  readonly #judgings: Pick<Judgings, 'of'>;
  readonly #devices = new Map<number, DeviceJudging>();
  readonly #dirty = new Set<number>();
  #judges = 0;
  /** The part of a commit that changes take up which are to be stored. */
  #weight = 0;

  constructor(judgings: Pick<Judgings, 'of'>) {
    this.#judgings = judgings;
  }

  /** Number of devices whose states are to be stored. */
  get unstored(): number {
    return this.#dirty.size;
  }

  /** Whether so much changed that it is to be stored before the next. */
  get isFull(): boolean {
    return this.#weight >= 1;
  }

  has(deviceKey: number): boolean {
    return this.#devices.has(deviceKey);
  }

  /** Judges what was recorded, up to the event with which it is full. `isUrgent`: it is to be stored at once. */
  async judge(events: readonly RecordedEvent[], rules: Rules): Promise<{ count: number; isUrgent: boolean }> {
    const keys = new Set(events.map(({ deviceKey }) => deviceKey));
    const unknown = [...keys].filter((key) => !this.#devices.has(key));
    if (unknown.length > 0) await this.#read(unknown, events, rules);
    const slices = new Slices(NOBODY);
    let isUrgent = false;
    for (const [at, event] of events.entries()) {
      if (this.isFull) return { count: at, isUrgent };
      const judging = this.#devices.get(event.deviceKey);
      if (judging === undefined) continue;
      this.#dirty.add(event.deviceKey);
      if (!judging.takesQuietly(event)) {
        const before = judging.weight;
        await judging.event(event);
        this.#weight += judging.weight - before;
        isUrgent ||= judging.isUrgent;
      }
      if (slices.isOver) await slices.next();
    }
    return { count: events.length, isUrgent };
  }

  async #read(keys: readonly number[], events: readonly RecordedEvent[], rules: Rules): Promise<void> {
    const judgings = await this.#judgings.of(keys, rules, { ofWatched: true });
    const firstOf = new Map<number, number>();
    for (const { deviceKey, timestamps } of events)
      if (!firstOf.has(deviceKey)) firstOf.set(deviceKey, Math.min(...timestamps));
    await atOnce([...judgings], ([key, judging]) => judging.prepare(firstOf.get(key)!));
    for (const [key, judging] of judgings) {
      this.#devices.set(key, judging);
      this.#judges += judging.ruleCount;
    }
  }

  /** Judges a device by the clock. */
  async clock(deviceKey: number, now: number): Promise<void> {
    const judging = this.#devices.get(deviceKey)!;
    const before = judging.weight;
    await judging.clock(now);
    this.#weight += judging.weight - before;
    this.#dirty.add(deviceKey);
  }

  /** The states to store. */
  results(now: number): Judged[] {
    return [...this.#dirty].map((key) => this.#devices.get(key)!.result(now));
  }

  /** They were stored as `results` said. */
  stored(judged: readonly Judged[]): void {
    for (const one of judged) this.#devices.get(one.deviceKey)!.stored(one);
    this.#dirty.clear();
    this.#weight = 0;
    if (this.#judges > MAX_JUDGES) this.forget();
  }

  /** Forgets all of them, also what was not stored. */
  forget(): void {
    this.#devices.clear();
    this.#dirty.clear();
    this.#judges = 0;
    this.#weight = 0;
  }
}

/** Runs the work of some at a time: each reads what is stored. */
export async function atOnce<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  for (let at = 0; at < items.length; at += READ_AT_ONCE)
    await Promise.all(items.slice(at, at + READ_AT_ONCE).map(work));
}
