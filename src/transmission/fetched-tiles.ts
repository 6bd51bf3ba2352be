import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { MapTiles, Tile, TilePlace } from '../domain/ports/map-tiles.ts';
import type { Caller } from '../scheduling/caller.ts';
import { Lane } from '../scheduling/lane.ts';
import { LANES } from '../scheduling/lanes.ts';
import { SingleFlight } from '../scheduling/single-flight.ts';

/** Maximum bytes of a tile, bytes of all that are kept, how long one is kept, and how long the tile server may take. */
const TILE_LIMITS = { tileBytes: 524_288, keptBytes: 33_554_432, keptMs: 6 * 3_600_000, answerMs: 8_000 };
/** How long it is known that the tile server answered without a tile: a view of a map asks for some thirty at once. */
const REFUSED_MS = 60_000;
/** Bytes of what is kept beside a tile itself. */
const ENTRY_BYTES = 256;
/** Kept in place of a tile that the tile server refused, or does not have. */
const REFUSED: Tile = { contentType: '', bytes: Buffer.alloc(0) };
/** Content types that are passed on: pictures that hold no script. */
const PICTURES = new Set(['image/png', 'image/jpeg', 'image/webp']);

interface FetchedTilesOptions {
  /** With `{z}`, `{x}` and `{y}`; may hold a key. */
  url: string;
  attribution: string;
  log: Logger;
}

/**
 * Tiles of the operator's tile server, which browsers never ask. It is called wherever it is, as its address comes from
 * the environment; redirects are not followed. Its URL is never logged.
 */
export class FetchedTiles implements MapTiles {
  readonly attribution: string;
  readonly #url: string;
  readonly #log: Logger;
  readonly #lane = new Lane(LANES.mapTiles);
  readonly #flights = new SingleFlight<Tile | null>();
  readonly #kept = new LRUCache<string, Tile>({
    maxSize: TILE_LIMITS.keptBytes,
    sizeCalculation: ({ bytes }) => ENTRY_BYTES + bytes.length,
    ttl: TILE_LIMITS.keptMs,
  });
  /** The last failure that was logged: of those that go on, only the first is. */
  #failure: string | null = null;

  constructor({ url, attribution, log }: FetchedTilesOptions) {
    this.#url = url;
    this.attribution = attribution;
    this.#log = log;
  }

  async tileAt(caller: Caller, { z, x, y }: TilePlace): Promise<Tile | null> {
    const key = `${z}/${x}/${y}`;
    const kept = this.#kept.get(key);
    if (kept !== undefined) return known(kept);
    return this.#lane.use(caller, () => this.#flights.of(key, () => this.#fetch(key, { z, x, y })));
  }

  async #fetch(key: string, { z, x, y }: TilePlace): Promise<Tile | null> {
    // Another one of the lane may have brought it meanwhile.
    const kept = this.#kept.get(key);
    if (kept !== undefined) return known(kept);
    const url = this.#url.replace('{z}', String(z)).replace('{x}', String(x)).replace('{y}', String(y));
    try {
      const tile = await read(url);
      this.#kept.set(key, tile);
      this.#failure = null;
      return tile;
    } catch (error) {
      const reason = reasonOf(error);
      if (error instanceof NoTile) this.#kept.set(key, REFUSED, { ttl: REFUSED_MS });
      if (reason !== this.#failure)
        this.#log.warn({ tile: key, reason }, 'the tile server of MAP_TILES_URL gives no tile');
      this.#failure = reason;
      return null;
    }
  }
}

function known(tile: Tile): Tile | null {
  return tile === REFUSED ? null : tile;
}

/** An answer that is no tile, in words without the URL. */
class NoTile extends Error {}

async function read(url: string): Promise<Tile> {
  const response = await fetch(url, {
    redirect: 'manual',
    headers: { Accept: 'image/webp,image/png,image/jpeg', 'User-Agent': 'Inlet' },
    signal: AbortSignal.timeout(TILE_LIMITS.answerMs),
  });
  const contentType = (response.headers.get('content-type') ?? '').split(';')[0]!.trim().toLowerCase();
  if (response.status !== 200 || !PICTURES.has(contentType)) {
    await response.body?.cancel();
    throw new NoTile(
      response.status === 200 ? 'it answers no PNG, JPEG or WebP' : `it answers with status ${response.status}`,
    );
  }
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of response.body ?? []) {
    length += piece.length;
    if (length > TILE_LIMITS.tileBytes) throw new NoTile(`a tile has more than ${TILE_LIMITS.tileBytes} bytes`);
    pieces.push(piece);
  }
  return { contentType, bytes: Buffer.concat(pieces) };
}

/** Never the message of a failed request, which may hold the URL with its key. */
function reasonOf(error: unknown): string {
  if (error instanceof NoTile) return error.message;
  if (!(error instanceof Error)) return 'it cannot be asked';
  if (error.name === 'TimeoutError') return `no answer within ${TILE_LIMITS.answerMs / 1_000} s`;
  const { code } = (error.cause ?? error) as { code?: unknown };
  return typeof code === 'string' ? `it cannot be reached (${code})` : 'it cannot be reached';
}
