import type { Columns } from '../chart/merge-values.ts';
import { showGaps } from '../chart/show-gaps.ts';
import { type Place, type Point, pointOf, readPlace } from './place.ts';

/** Place of a device at one time. */
export interface TrackPoint extends Point {
  /** Unix seconds. */
  timestamp: number;
  place: Place;
  /** True when the device was silent before for much longer than usual, so that its way is unknown. */
  afterGap: boolean;
}

/**
 * The track of a device from its places in time order (null and invalid places are left out). Across the date line it
 * continues on the same side, so that no line runs around the world.
 */
export function trackOf(columns: Columns<unknown>): TrackPoint[] {
  const { timestamps, values } = showGaps(columns);
  const track: TrackPoint[] = [];
  let [afterGap, before] = [false, null as number | null];
  for (const [at, timestamp] of timestamps.entries()) {
    const found = readPlace(values[at]);
    if (found === null) {
      afterGap = true;
      continue;
    }
    const { latitude } = found;
    const turns = before === null ? 0 : Math.round((before - found.longitude) / 360);
    const longitude = found.longitude + turns * 360;
    const place = { latitude, longitude };
    track.push({ timestamp, place, afterGap: afterGap && track.length > 0, ...pointOf(place) });
    [afterGap, before] = [false, longitude];
  }
  return track;
}

/** The track on the side of the world on which `longitude` is, so that two about the date line are beside each other. */
export function trackBeside(track: readonly TrackPoint[], longitude: number): readonly TrackPoint[] {
  const turns = Math.round((longitude - (track[0]?.place.longitude ?? longitude)) / 360);
  if (turns === 0) return track;
  return track.map((one) => {
    const place = { ...one.place, longitude: one.place.longitude + turns * 360 };
    return { ...one, place, ...pointOf(place) };
  });
}

/** Index of the point nearest in time (Unix seconds); null: no points. */
export function nearestInTime(track: readonly TrackPoint[], time: number): number | null {
  if (track.length === 0) return null;
  const after = track.findIndex(({ timestamp }) => timestamp >= time);
  if (after <= 0) return after === 0 ? 0 : track.length - 1;
  return time - track[after - 1]!.timestamp < track[after]!.timestamp - time ? after - 1 : after;
}
