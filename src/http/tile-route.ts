import { badInput, notFound } from '../errors.ts';
import type { MapTiles, TilePlace } from '../domain/ports/map-tiles.ts';
import type { TokenHandler } from './routes.ts';

/** The closest zoom, at which a tile is some 40 m wide at 60° N. */
const MAX_ZOOM = 19;
/** Seconds for which a browser keeps a tile. */
const KEPT_SECONDS = 3_600;
const PLACE = /^\/console\/tiles\/(\d{1,2})\/(\d{1,7})\/(\d{1,7})$/;

/**
 * `/console/tiles`: what the maps of the console lie on, as JSON, and below it `/{z}/{x}/{y}` each tile of the operator's
 * tile server; 502 where that gives none. `null`: there is no tile server.
 */
export function tileRoute(tiles: MapTiles | null): TokenHandler {
  return async (context, access) => {
    if (context.path.replace(/\/$/, '') === '/console/tiles') {
      context.body = tiles === null ? { on: false } : { on: true, attribution: tiles.attribution, maxZoom: MAX_ZOOM };
      return;
    }
    const place = readPlace(context.path);
    if (tiles === null) throw notFound('tile', 'MAP_TILES_URL is not set');
    const tile = await tiles.tileAt(access, place);
    if (tile === null) {
      const detail = 'The tile server gave no tile; the reason is in the log.';
      context.status = 502;
      context.body = { type: 'about:blank', title: 'Bad Gateway', status: 502, detail, code: 'NO_TILE' };
      context.type = 'application/problem+json';
      return;
    }
    context.set('Cache-Control', `private, max-age=${KEPT_SECONDS}`);
    context.set('Vary', 'Authorization, Cookie');
    context.type = tile.contentType;
    context.body = tile.bytes;
  };
}

function readPlace(path: string): TilePlace {
  const found = PLACE.exec(path);
  if (found === null) throw badInput('tiles: expected /console/tiles/{z}/{x}/{y}, three whole numbers.');
  const [z, x, y] = found.slice(1).map(Number) as [number, number, number];
  if (z > MAX_ZOOM) throw badInput(`z: expected a whole number from 0 to ${MAX_ZOOM}.`);
  const most = 2 ** z - 1;
  if (x > most || y > most) throw badInput(`x, y: expected whole numbers from 0 to ${most} at zoom ${z}.`);
  return { z, x, y };
}
