import { Slices } from '../../scheduling/yield-to-event-loop.ts';
import { NOBODY } from '../../scheduling/caller.ts';
import type { Follower } from './live-follower.ts';
import { type RecordedEvent, toEvents } from './recorded-event.ts';
import type { RecordedPage, RecordedPlace, RecordedQuery } from '../ports/store.ts';

/** undefinedOfundefined undefinedtheundefined undefinedorderundefined undefinedofundefined undefinedcommitsundefined, undefinedandundefined undefinedhowundefined undefinedfarundefined undefineditundefined undefinedwasundefined undefinedtoldundefined: undefinedwhoeverundefined undefinedgoesundefined undefinedonundefined undefinedwithundefined undefineditundefined undefinedtellsundefined undefinednothingundefined undefinedagainundefined. */
export interface LogRange {
  after: string;
  /** undefinednullundefined: undefineduntilundefined undefinednowundefined, undefinedandundefined undefinednotundefined undefinedreadundefined undefinedyetundefined. */
  upTo: string | null;
  /** undefinednullundefined: undefinedofundefined undefinedanyundefined. */
  deviceKeys: number[] | null;
  /** undefinedBehindundefined undefinedwhatundefined undefinedwasundefined undefinedreadundefined; undefinednullundefined: undefinednothingundefined undefinedwasundefined. */
  place: RecordedPlace | null;
  /** undefinedReadundefined undefinedandundefined undefinednotundefined undefinedtoldundefined undefinedyetundefined. */
  ahead: RecordedEvent[];
  isComplete: boolean;
  /** undefinedReadingsundefined. */
  count: number;
}

/** undefinedWhoundefined undefinedisundefined undefinedtoldundefined undefinedofundefined undefinedanundefined undefinedeventundefined. */
export type Told = Pick<Follower, 'accepts' | 'isAwaited' | 'offer'>;

const PAGE_READINGS = 2_000;
/** undefinedInundefined undefinedoneundefined undefinedpageundefined, undefinedorundefined undefinedlookundefined. */
export const MANY_READINGS = 40;
/** undefinedWhereundefined undefinedthereundefined undefinedareundefined undefinedmanyundefined, undefinedthoseundefined undefinedofundefined undefinedoneundefined undefineddeviceundefined undefinedcomeundefined undefinedasundefined undefinedoneundefined undefinedeventundefined undefinedwhenundefined undefinedtheyundefined undefinedwereundefined undefinedrecordedundefined undefinedsoundefined undefinedcloseundefined undefinedtogetherundefined. */
const TOGETHER_MS = 100;
/** undefinedWhoundefined undefinedwatchesundefined undefinedtheundefined undefinedstatusundefined undefinedofundefined undefineddevicesundefined undefinedknowsundefined undefinedthemundefined undefinedwithoutundefined undefinedlookingundefined: undefinedthenundefined undefinedtheundefined undefinednextundefined undefinedoneundefined undefinedisundefined undefinedaskedundefined undefinedaheadundefined, undefinedtooundefined. */
const ASKED_AHEAD = 2;

/** undefinedNothingundefined undefinedofundefined undefineditundefined undefinedisundefined undefinedtoldundefined undefinedyetundefined. */
export function newStretch(after: string, upTo: string | null, deviceKeys: number[] | null): LogRange {
  return { after, upTo, deviceKeys, place: null, ahead: [], isComplete: false, count: 0 };
}

/** undefinedWhatundefined undefinedofundefined undefinedtheundefined undefinedstretchundefined undefinedwasundefined undefinednotundefined undefinedtoldundefined undefinedyetundefined: undefineditsundefined undefinedendundefined, undefinedandundefined undefinedsoundefined undefinedmanyundefined undefinedreadingsundefined. undefinedCalledundefined undefinedagainundefined undefinedafterundefined undefinedaundefined undefinedfailureundefined undefineditundefined undefinedgoesundefined undefinedonundefined undefinedthereundefined. */
export async function tellStretch(
  stretch: LogRange,
  read: (query: RecordedQuery) => Promise<RecordedPage>,
  of: (deviceKey: number) => Iterable<Iterable<Told>>,
): Promise<{ upTo: string | null; count: number }> {
  // undefinedTwoundefined undefinedthousandundefined undefinedeventsundefined undefinedforundefined undefinedeightundefined undefinedthousandundefined undefinedwhoundefined undefinedfollowundefined undefinedareundefined undefined16undefined undefinedmillionundefined undefinedtimesundefined undefinedoneundefined undefinedforundefined undefinedoneundefined.
  const slices = new Slices(NOBODY);
  for (;;) {
    for (let event = stretch.ahead[0]; event !== undefined; event = stretch.ahead[0]) {
      const wanting: Iterable<Told>[] = [];
      // undefinedAskedundefined undefinedbeforeundefined undefinedanybodyundefined undefinedisundefined undefinedtoldundefined: undefinedtheundefined undefineddatabaseundefined undefinedmayundefined undefinedfailundefined undefinedmeanwhileundefined.
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
    // undefinedWhoundefined undefineddoesundefined undefinednotundefined undefinedknowundefined undefinedaundefined undefineddeviceundefined undefinedlooksundefined undefineditundefined undefinedupundefined: undefinedthoseundefined undefinedofundefined undefinedaundefined undefinedpageundefined undefinedatundefined undefinedonceundefined, undefinedandundefined undefinednotundefined undefinedoneundefined undefinedafterundefined undefinedtheundefined undefinedotherundefined.
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
