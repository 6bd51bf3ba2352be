import { Slices } from '../../scheduling/yield-to-event-loop.ts';
import { NOBODY } from '../../scheduling/caller.ts';
import type { Follower } from './live-follower.ts';
import { type RecordedEvent, toEvents } from './recorded-event.ts';
import type { RecordedPage, RecordedPlace, RecordedQuery } from '../ports/store.ts';

/** Of the order of commits, and how far it was told: whoever goes on with it tells nothing again. */
export interface LogRange {
  after: string;
  /** null: until now, and not read yet. */
  upTo: string | null;
  /** null: of any. */
  deviceKeys: number[] | null;
  /** Behind what was read; null: nothing was. */
  place: RecordedPlace | null;
  /** Read and not told yet. */
  ahead: RecordedEvent[];
  isComplete: boolean;
  /** Readings. */
  count: number;
}

/** Who is told of an event. */
export type Told = Pick<Follower, 'accepts' | 'isAwaited' | 'offer'>;

const PAGE_READINGS = 2_000;
/** In one page, or look. */
export const MANY_READINGS = 40;
/** Where there are many, those of one device come as one event when they were recorded so close together. */
const TOGETHER_MS = 100;
/** Who watches the status of devices knows them without looking: then the next one is asked ahead, too. */
const ASKED_AHEAD = 2;

/** Nothing of it is told yet. */
export function newStretch(after: string, upTo: string | null, deviceKeys: number[] | null): LogRange {
  return { after, upTo, deviceKeys, place: null, ahead: [], isComplete: false, count: 0 };
}

/** What of the stretch was not told yet: its end, and so many readings. Called again after a failure it goes on there. */
export async function tellStretch(
  stretch: LogRange,
  read: (query: RecordedQuery) => Promise<RecordedPage>,
  of: (deviceKey: number) => Iterable<Iterable<Told>>,
): Promise<{ upTo: string | null; count: number }> {
  // Two thousand events for eight thousand who follow are 16 million times one for one.
  const slices = new Slices(NOBODY);
  for (;;) {
    for (let event = stretch.ahead[0]; event !== undefined; event = stretch.ahead[0]) {
      const wanting: Iterable<Told>[] = [];
      // Asked before anybody is told: the database may fail meanwhile.
      for (const audience of of(event.deviceKey)) {
        const accepted = anyOf(audience)?.accepts(event.deviceKey) ?? false;
        if (typeof accepted === 'boolean' ? accepted : await accepted) wanting.push(audience);
        if (slices.isOver) await slices.next();
      }
      stretch.ahead.shift();
      for (const audience of wanting)
        for (const follower of audience) {
          slices.offer(follower, event);
          if (slices.isOver) await slices.next();
        }
    }
    if (stretch.isComplete) return stretch;
    const { after, upTo, place, deviceKeys } = stretch;
    const page: RecordedPage = await read({ after, upTo, place, deviceKeys, limit: PAGE_READINGS });
    const apartMs = page.readings.length < MANY_READINGS ? undefined : TOGETHER_MS;
    const events = toEvents(page, after, { apartMs });
    // Who does not know a device looks it up: those of a page at once, and not one after the other.
    const devices = new Set(events.map(({ deviceKey }) => deviceKey));
    await Promise.all([...devices].map((deviceKey) => askAhead(of(deviceKey), deviceKey)));
    stretch.upTo = page.upTo;
    stretch.count += page.readings.length;
    stretch.ahead = events;
    const last = page.readings.at(-1);
    stretch.isComplete = page.complete || last === undefined;
    if (last !== undefined) stretch.place = { seq: last.seq, deviceKey: last.deviceKey, timestamp: last.timestamp };
  }
}

async function askAhead(audiences: Iterable<Iterable<Told>>, deviceKey: number): Promise<void> {
  let asked = 0;
  for (const audience of audiences) {
    await anyOf(audience)?.accepts(deviceKey);
    if ((asked += 1) === ASKED_AHEAD) return;
  }
}

function anyOf<Item>(some: Iterable<Item>): Item | undefined {
  for (const item of some) return item;
  return undefined;
}
