import { latitudeText, longitudeText, placeOf, type Point, pointOf } from './place.ts';
import { countText } from '../texts/count-text.ts';

/** The view of a map: the point in its middle, and the width of the whole world in pixels. */
export interface MapView {
  middle: Point;
  scale: number;
}

/** Size of the map on the page, in pixels. */
export interface Size {
  width: number;
  height: number;
}

const EQUATOR_METRES = 40_075_017;
const LEAST_SCALE = 256;
/** Maximum scale: five centimetres per pixel. */
const MOST_SCALE = EQUATOR_METRES / 0.05;
/** Minimum width shown around a single place. */
const LEAST_METRES = 200;
const EDGE = 44;
const RADIANS = Math.PI / 180;

/** Shows all of the points with a margin; the whole world without points. */
export function fitting(points: readonly Point[], { width, height }: Size): MapView {
  if (points.length === 0) return { middle: { x: 0.5, y: 0.5 }, scale: Math.max(LEAST_SCALE, height) };
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const { x, y } of points) {
    [left, right] = [Math.min(left, x), Math.max(right, x)];
    [top, bottom] = [Math.min(top, y), Math.max(bottom, y)];
  }
  const middle = { x: (left + right) / 2, y: (top + bottom) / 2 };
  const least = LEAST_METRES / (EQUATOR_METRES * stretchAt(middle));
  const scale = Math.min(
    Math.max(1, width - 2 * EDGE) / Math.max(right - left, least),
    Math.max(1, height - 2 * EDGE) / Math.max(bottom - top, least),
  );
  return { middle, scale: bounded(scale) };
}

/** The view zoomed by a factor around a place on the page. */
export function zoomed(view: MapView, factor: number, at: Point, size: Size): MapView {
  const scale = bounded(view.scale * factor);
  const held = worldAt(view, at, size);
  return {
    middle: { x: held.x - (at.x - size.width / 2) / scale, y: inWorld(held.y - (at.y - size.height / 2) / scale) },
    scale,
  };
}

/** The view dragged by an offset in pixels. */
export function dragged({ middle, scale }: MapView, by: Point): MapView {
  return { middle: { x: middle.x - by.x / scale, y: inWorld(middle.y - by.y / scale) }, scale };
}

/** Position on the page of a point of the world. */
export function pageAt({ middle, scale }: MapView, { x, y }: Point, { width, height }: Size): Point {
  return { x: (x - middle.x) * scale + width / 2, y: (y - middle.y) * scale + height / 2 };
}

/** The scale bar: its length in pixels, and the distance it stands for. */
export function scaleBar({ middle, scale }: MapView, longest: number): { pixels: number; text: string } {
  const metresAPixel = (EQUATOR_METRES * stretchAt(middle)) / scale;
  const metres = roundBelow(longest * metresAPixel);
  const text = metres >= 1_000 ? `${countText(metres / 1_000)} km` : metres >= 1 ? `${metres} m` : `${metres * 100} cm`;
  return { pixels: metres / metresAPixel, text };
}

/** A line of the grid: its position on the page, and its name. */
interface GridLine {
  at: number;
  text: string;
}

const DEGREES = [90, 45, 30, 15, 10, 5, 2, 1];
const GRID_PIXELS = 180;

/** Visible meridians (x) and parallels (y), at round degrees and well apart. */
export function gridOf(view: MapView, size: Size): { meridians: GridLine[]; parallels: GridLine[] } {
  const step = degreesBelow((GRID_PIXELS * 360) / view.scale);
  const digits = Math.max(0, Math.ceil(-Math.log10(step)));
  const [start, end] = [
    placeOf(worldAt(view, { x: 0, y: size.height }, size)),
    placeOf(worldAt(view, { x: size.width, y: 0 }, size)),
  ];
  return {
    meridians: multiples(start.longitude, end.longitude, step).map((longitude) => ({
      at: pageAt(view, pointOf({ latitude: 0, longitude }), size).x,
      text: longitudeText(longitude, digits),
    })),
    parallels: multiples(Math.max(-85, start.latitude), Math.min(85, end.latitude), step).map((latitude) => ({
      at: pageAt(view, pointOf({ latitude, longitude: 0 }), size).y,
      text: latitudeText(latitude, digits),
    })),
  };
}

function worldAt({ middle, scale }: MapView, { x, y }: Point, { width, height }: Size): Point {
  return { x: middle.x + (x - width / 2) / scale, y: middle.y + (y - height / 2) / scale };
}

/** Shrinking factor against the equator: Mercator draws things larger towards the poles. */
function stretchAt(middle: Point): number {
  return Math.cos(placeOf(middle).latitude * RADIANS);
}

function bounded(scale: number): number {
  return Math.max(LEAST_SCALE, Math.min(MOST_SCALE, scale));
}

function inWorld(y: number): number {
  return Math.max(0, Math.min(1, y));
}

/** The largest number of 1, 2 or 5 times a power of ten that is not larger. */
function roundBelow(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const round = [5, 2, 1].find((one) => one * power <= value) ?? 1;
  return Number((round * power).toPrecision(1));
}

function degreesBelow(degrees: number): number {
  return DEGREES.find((one) => one <= degrees) ?? roundBelow(degrees);
}

const MOST_LINES = 40;

function multiples(from: number, to: number, step: number): number[] {
  const first = Math.ceil(from / step);
  const count = Math.max(0, Math.min(MOST_LINES, Math.floor(to / step) - first + 1));
  return Array.from({ length: count }, (_, at) => (first + at) * step);
}
