import { describe, expect, test, vi } from 'vitest';
import { parseResolution } from '../../src/domain/history/resolution.ts';
import { gridEdges, learnZone } from '../../src/domain/history/time-grid.ts';
import { planSeries } from '../../src/domain/history/series-plan.ts';
import { ZoneOffsets } from '../../src/domain/times/zone-offsets.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { naiveBuckets } from './naive-history.ts';

function edges(resolution: string, zone: string, from: string, to: string): string[] {
  const found = gridEdges(parseResolution(resolution), zone, Date.parse(from), Date.parse(to), 200_000)!;
  return Array.from(found, (edge) => new Date(edge).toISOString().slice(0, 16));
}

/** Buckets of the range, of which each local day has so many. */
function count(resolution: string, zone: string, from: string, to: string): number {
  return edges(resolution, zone, from, to).length - 1;
}

describe('the grid of buckets', () => {
  test('hours of a day on which the clock is put back come one by one, blocks of hours get longer', () => {
    const sydney = ['2024-04-06T13:00Z', '2024-04-07T14:00Z'] as const;
    expect(count('1h', 'Australia/Sydney', ...sydney)).toBe(25);
    expect(count('1h', 'Australia/Sydney', '2024-04-05T13:00Z', '2024-04-06T13:00Z')).toBe(24);
    expect(count('2h', 'Australia/Sydney', ...sydney)).toBe(12);
    expect(edges('6h', 'Australia/Sydney', ...sydney)).toEqual(['2024-04-06T13:00', '2024-04-06T20:00', '2024-04-07T02:00', '2024-04-07T08:00', '2024-04-07T14:00']); // oxfmt-ignore
    expect(count('1h', 'America/Los_Angeles', '2024-11-03T07:00Z', '2024-11-04T08:00Z')).toBe(25);
    expect(count('1d', 'America/Los_Angeles', '2024-11-03T07:00Z', '2024-11-04T08:00Z')).toBe(1);
  });

  test('an hour that the clock skips has no bucket', () => {
    expect(count('1h', 'Europe/Paris', '2024-03-30T23:00Z', '2024-03-31T22:00Z')).toBe(23);
    expect(edges('3h', 'Europe/Paris', '2024-03-30T23:00Z', '2024-03-31T07:00Z')).toEqual(['2024-03-30T23:00', '2024-03-31T01:00', '2024-03-31T04:00', '2024-03-31T07:00']); // oxfmt-ignore
  });

  test('months, weeks and days begin at local midnight on both sides of a change', () => {
    expect(edges('1mo', 'Europe/Berlin', '2024-05-10T00:00Z', '2024-12-31T23:00Z')).toEqual(['2024-04-30T22:00', '2024-05-31T22:00', '2024-06-30T22:00', '2024-07-31T22:00', '2024-08-31T22:00', '2024-09-30T22:00', '2024-10-31T23:00', '2024-11-30T23:00', '2024-12-31T23:00']); // oxfmt-ignore
    expect(edges('1d', 'Europe/Brussels', '2022-03-26T12:00Z', '2022-03-28T21:00Z')).toEqual(['2022-03-25T23:00', '2022-03-26T23:00', '2022-03-27T22:00', '2022-03-28T22:00']); // oxfmt-ignore
    expect(edges('1w', 'Europe/Berlin', '2024-03-25T00:00Z', '2024-04-08T00:00Z')).toEqual(['2024-03-24T23:00', '2024-03-31T22:00', '2024-04-07T22:00', '2024-04-14T22:00']); // oxfmt-ignore
    expect(edges('3mo', 'UTC', '2024-02-29T00:00Z', '2024-07-01T00:00Z')).toEqual(['2024-01-01T00:00', '2024-04-01T00:00', '2024-07-01T00:00']); // oxfmt-ignore
    expect(edges('1y', 'Asia/Tokyo', '2023-06-01T00:00Z', '2024-06-01T00:00Z')).toEqual(['2022-12-31T15:00', '2023-12-31T15:00', '2024-12-31T15:00']); // oxfmt-ignore
  });

  test('offsets that are no whole hours, and changes by half an hour', () => {
    expect(edges('1h', 'Asia/Kathmandu', '2024-01-01T00:20Z', '2024-01-01T02:00Z')).toEqual(['2024-01-01T00:15', '2024-01-01T01:15', '2024-01-01T02:15']); // oxfmt-ignore
    expect(edges('1h', 'Australia/Lord_Howe', '2024-04-06T14:00Z', '2024-04-06T16:30Z')).toEqual(['2024-04-06T14:00', '2024-04-06T15:30', '2024-04-06T16:30']); // oxfmt-ignore
    expect(edges('1h', 'Australia/Lord_Howe', '2024-10-05T14:30Z', '2024-10-05T17:00Z')).toEqual(['2024-10-05T14:30', '2024-10-05T15:30', '2024-10-05T16:00', '2024-10-05T17:00']); // oxfmt-ignore
    expect(count('1d', 'Australia/Lord_Howe', '2024-04-06T13:00Z', '2024-04-07T13:30Z')).toBe(1);
  });

  test('a missing day has no bucket, a missing midnight begins when the clock has passed it', () => {
    expect(edges('1d', 'Pacific/Apia', '2011-12-29T10:00Z', '2012-01-01T10:00Z')).toEqual(['2011-12-29T10:00', '2011-12-30T10:00', '2011-12-31T10:00', '2012-01-01T10:00']); // oxfmt-ignore
    expect(edges('1d', 'America/Sao_Paulo', '2018-11-03T03:00Z', '2018-11-05T02:00Z')).toEqual(['2018-11-03T03:00', '2018-11-04T03:00', '2018-11-05T02:00']); // oxfmt-ignore
    // Put back over midnight: a day begins once.
    expect(edges('1d', 'America/St_Johns', '2010-11-07T01:00Z', '2010-11-08T04:00Z')).toEqual(['2010-11-06T02:30', '2010-11-07T02:30', '2010-11-08T03:30', '2010-11-09T03:30']); // oxfmt-ignore
    expect(edges('1d', 'America/St_Johns', '2010-11-07T03:00Z', '2010-11-07T04:00Z')).toEqual(['2010-11-07T02:30', '2010-11-08T03:30']); // oxfmt-ignore
  });

  test('seconds and minutes are multiples since 1970 in UTC, whatever the zone', () => {
    expect(edges('90m', 'Asia/Kathmandu', '1970-01-01T02:00Z', '1970-01-01T03:00Z')).toEqual(['1970-01-01T01:30', '1970-01-01T03:00']); // oxfmt-ignore
    expect(gridEdges(parseResolution('30s'), 'UTC', 45_000, 60_001, 10)).toEqual(
      Float64Array.of(30_000, 60_000, 90_000),
    );
  });

  test('more buckets than allowed are none', () => {
    const day = [Date.parse('2024-01-01'), Date.parse('2024-01-02')] as const;
    expect(gridEdges(parseResolution('1h'), 'UTC', ...day, 24)).toHaveLength(25);
    expect(gridEdges(parseResolution('1h'), 'UTC', ...day, 23)).toBeNull();
    expect(gridEdges(parseResolution('1s'), 'UTC', 0, 8e12, 200_000)).toBeNull();
  });

  test('as many buckets as there are is never more than allowed', () => {
    const random = seededRandom(7);
    const zones = ['UTC', 'Europe/Dublin', 'Australia/Lord_Howe', 'Pacific/Apia', 'Pacific/Kwajalein', 'Africa/Cairo', 'Antarctica/Troll']; // oxfmt-ignore
    for (const zone of zones)
      for (const resolution of ['70s', '45m', '1h', '5h', '24h', '1d', '3d', '1w', '1mo', '7mo', '1y', '3y']) {
        const from = Math.floor(random() * Date.UTC(2030, 0, 1));
        const to = from + Math.ceil(random() * 86_400_000 * (/[smh]$/.test(resolution) ? 500 : 40_000));
        const found = gridEdges(parseResolution(resolution), zone, from, to, 2_000_000)!;
        expect([zone, resolution, from, to, found.length]).toEqual([zone, resolution, from, to, expect.any(Number)]);
        expect(gridEdges(parseResolution(resolution), zone, from, to, found.length - 1)).toEqual(found);
        expect(gridEdges(parseResolution(resolution), zone, from, to, found.length - 2)).toBeNull();
      }
  });

  test('more buckets than allowed are not gone through to find that out', () => {
    const [from, to] = [Date.UTC(1970), Date.UTC(2015)];
    const grid = (most: number) => gridEdges(parseResolution('1h'), 'Europe/Berlin', from, to, most);
    expect(grid(400_000)).toHaveLength(394_465);
    // What the clocks of the zone showed is looked at before the first bucket.
    const begun = vi.spyOn(ZoneOffsets.prototype, 'spans');
    expect(grid(390_000)).toBeNull();
    expect(begun).not.toHaveBeenCalled();
    begun.mockRestore();
  });

  test('a range up to the last day that there is has its buckets', () => {
    const to = 8_640_000_000_000_000;
    for (const resolution of ['7mo', '5y', '1000y']) {
      const found = gridEdges(parseResolution(resolution), 'Europe/Berlin', 0, to, 500_000)!;
      expect(found.at(-2)).toBeLessThan(to);
      expect(found.at(-1)).toBeGreaterThanOrEqual(to);
    }
    expect(planSeries({ from: 0, to, maxPoints: 66_666 }, 1, to).resolution).toBe('5y');
    const late = Date.UTC(200_000, 0, 1);
    expect(gridEdges(parseResolution('1y'), 'UTC', late, late + 1, 1)![0]).toBe(late);
    expect(gridEdges(parseResolution('1y'), 'UTC', to - 1, to, 1)![0]).toBe(Date.UTC(275_760, 0, 1));
  });

  test('a zone is found out about once, however it is written, in steps', () => {
    const [from, to] = [0, Date.UTC(2200, 0, 1)];
    const formats = vi.spyOn(Intl.DateTimeFormat.prototype as unknown as { format: object }, 'format', 'get');
    try {
      const steps = [...learnZone('Asia/Gaza', from, to)];
      expect(steps.length).toBeGreaterThanOrEqual(13);
      expect(formats.mock.calls.length).toBeGreaterThan(0);
      // More than two of three were for what was known before, or to the millisecond.
      expect(formats.mock.calls.length).toBeLessThan(15_000);
      formats.mockClear();
      for (const name of ['Asia/Gaza', 'asia/gaza', 'ASIA/Gaza', 'aSIA/gAZA'])
        expect([...learnZone(name, from, to)]).toEqual([]);
      for (const name of Intl.supportedValuesOf('timeZone').slice(0, 100))
        gridEdges(parseResolution('1d'), name, 0, 1, 9);
      formats.mockClear();
      expect([...learnZone('Asia/Gaza', from, to)]).toEqual([]);
      expect(formats).not.toHaveBeenCalled();
    } finally {
      formats.mockRestore();
    }
  });

  test('an offset is a zone without changes', () => {
    expect([...learnZone('+05:30', 0, Date.UTC(2200, 0, 1))]).toEqual([]);
    expect(edges('1d', '+05:30', '2024-01-01T00:00Z', '2024-01-01T18:30Z')).toEqual(['2023-12-31T18:30', '2024-01-01T18:30']); // oxfmt-ignore
  });

  test('every zone and width agrees with the labels that the wall shows, over a year with all its changes', () => {
    const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'Australia/Sydney', 'Pacific/Apia', 'Africa/Casablanca', 'Pacific/Chatham', 'America/Santiago']; // oxfmt-ignore
    for (const zone of zones)
      for (const resolution of ['2h', '6h', '1d', '5d', '1w', '1mo', '5mo', '1y']) {
        const [from, to] = [Date.parse('2011-06-05T13:37:00Z'), Date.parse('2012-05-20T04:00:00Z')];
        if (resolution === '2h' && zone !== 'Europe/Berlin') continue;
        const naive = naiveBuckets([], { from, to, resolution, zone, aggregation: 'COUNT', fill: 'NULL' });
        const found = gridEdges(parseResolution(resolution), zone, from, to, 200_000)!;
        expect([zone, resolution, ...found.slice(0, -1)]).toEqual([zone, resolution, ...naive.timestamps]);
      }
  });

  test('what is no resolution and no zone is refused with what is allowed', () => {
    for (const wrong of [
      '',
      '1',
      'h',
      '0h',
      '-1h',
      '1.5h',
      '1H',
      ' 1h',
      '25h',
      '1mo3d',
      '1e3s',
      '99999999999s',
      '1min',
    ])
      expect(() => parseResolution(wrong), wrong).toThrow(/"resolution" must be a whole number and a unit/);
    for (const wrong of ['', 'Mars/Olympus', 'Europe/berlin ', 'x'.repeat(1000), '\0'])
      expect(() => gridEdges(parseResolution('1h'), wrong, 0, 1, 10), wrong).toThrow(
        /IANA zone such as "Europe\/Berlin"/,
      );
  });
});
