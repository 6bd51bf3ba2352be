import { setParameters, usePlace } from '../../navigation/place.ts';
import type { TimeRange } from '../../time/time-range.ts';
import { t } from '../../texts/texts.ts';

const DAY = 86_400_000;

/** Earlier times that charts may be compared with, in words. */
export const EARLIER = {
  before: t('the period before'),
  day: t('the day before'),
  week: t('the week before'),
  year: t('the year before'),
} as const;
/** One of `EARLIER`. */
type Earlier = keyof typeof EARLIER;

/** Maximum devices that a device is compared with. */
export const MOST_DEVICES = 4;

/** What the charts of a page are compared with, from the address. */
export interface Comparison {
  earlier: Earlier | null;
  deviceIds: readonly string[];
  /** Identifier of a field → the field that its chart also shows. */
  pairs: ReadonlyMap<string, string>;
  setEarlier: (earlier: Earlier | null) => void;
  setDevices: (ids: readonly string[]) => void;
  setPair: (identifier: string, other: string | null) => void;
}

/** The comparison of the address: `?earlier=week&with=<device>,<device>&pairs=temperature:humidity`. */
export function useComparison(): Comparison {
  const { query } = usePlace();
  const earlier = query.get('earlier');
  const pairs = new Map(
    (query.get('pairs') ?? '').split(',').flatMap((pair): [string, string][] => {
      const [one = '', other = ''] = pair.split(':');
      return one === '' || other === '' ? [] : [[one, other]];
    }),
  );
  return {
    earlier: earlier !== null && Object.hasOwn(EARLIER, earlier) ? (earlier as Earlier) : null,
    deviceIds: (query.get('with') ?? '')
      .split(',')
      .filter((id) => id !== '')
      .slice(0, MOST_DEVICES),
    pairs,
    setEarlier: (next) => setParameters({ earlier: next }, { push: true }),
    setDevices: (ids) => setParameters({ with: ids.join(',') }, { push: true }),
    setPair: (identifier, other) => {
      if (other === null) pairs.delete(identifier);
      else pairs.set(identifier, other);
      setParameters({ pairs: [...pairs].map((pair) => pair.join(':')).join(',') }, { push: true });
    },
  };
}

/** By how many milliseconds the compared time is earlier; null: nothing is compared. */
export function earlierBy(earlier: Earlier | null, { from, to }: Pick<TimeRange, 'from' | 'to'>): number | null {
  const ways = { before: to - from, day: DAY, week: 7 * DAY, year: 365 * DAY };
  return earlier === null ? null : ways[earlier];
}
