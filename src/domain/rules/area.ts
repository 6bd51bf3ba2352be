import type { Area, Corner } from './definition.ts';

const EARTH_METERS = 6_371_008.8;
const RADIANS = Math.PI / 180;

/** The corner of a stored place `(lat,lon)`. */
export function cornerOf(place: string): Corner {
  const comma = place.indexOf(',');
  return [Number(place.slice(1, comma)), Number(place.slice(comma + 1, -1))];
}

/** The stored place of a corner. */
export function placeOf([lat, lon]: Corner): string {
  return `(${lat},${lon})`;
}

/** Whether the corner lies in the area, its edge included for a circle. */
export function isWithin(area: Area, corner: Corner): boolean {
  return 'corners' in area ? isInPolygon(area.corners, corner) : metersBetween(area.center, corner) <= area.meters;
}

/** The shortest way over the ground (haversine), in metres. */
function metersBetween([lat, lon]: Corner, [otherLat, otherLon]: Corner): number {
  const [up, across] = [Math.sin(((otherLat - lat) * RADIANS) / 2), Math.sin(((otherLon - lon) * RADIANS) / 2)];
  const share = up * up + Math.cos(lat * RADIANS) * Math.cos(otherLat * RADIANS) * across * across;
  return 2 * EARTH_METERS * Math.asin(Math.min(1, Math.sqrt(share)));
}

/** Longitudes are taken as the shorter way from the first corner, so that a polygon may lie across the date line. */
function isInPolygon(corners: readonly Corner[], [lat, lon]: Corner): boolean {
  const origin = corners[0]![1];
  const x = eastOf(origin, lon);
  let inside = false;
  let [beforeLat, beforeLon] = corners.at(-1)!;
  for (const [cornerLat, cornerLon] of corners) {
    const crosses = cornerLat > lat !== beforeLat > lat;
    if (crosses) {
      const [here, there] = [eastOf(origin, cornerLon), eastOf(origin, beforeLon)];
      if (x < here + ((there - here) * (lat - cornerLat)) / (beforeLat - cornerLat)) inside = !inside;
    }
    [beforeLat, beforeLon] = [cornerLat, cornerLon];
  }
  return inside;
}

/** Degrees from one longitude to another, from -180 to below 180. */
function eastOf(from: number, to: number): number {
  return ((((to - from + 180) % 360) + 360) % 360) - 180;
}
