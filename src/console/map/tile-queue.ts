import { ownFetch } from '../api/own-fetch.ts';

/** Tiles that a page keeps, and those that a map asks for at once. */
const MAX_KEPT = 400;
const AT_ONCE = 6;
const BUSY = 503;

/** Pictures by their key, the last used at the end; null: the server has none. */
const kept = new Map<string, ImageBitmap | null>();

/** The picture of a tile that has come; null: none has. */
export function loadedTile(key: string): ImageBitmap | null {
  const image = kept.get(key);
  if (image == null) return null;
  kept.delete(key);
  kept.set(key, image);
  return image;
}

/** Loads the tiles of one map, a few at once; those that are not wanted any more are not asked for. */
export class TileQueue {
  readonly #onLoaded: () => void;
  readonly #loading = new Set<string>();
  #wanted: string[] = [];

  constructor(onLoaded: () => void) {
    this.#onLoaded = onLoaded;
  }

  /** Wants these tiles, and none of those before. */
  want(keys: readonly string[]): void {
    this.#wanted = keys.filter((key) => !kept.has(key) && !this.#loading.has(key));
    this.#next();
  }

  /** Wants none any more. */
  end(): void {
    this.#wanted = [];
  }

  #next(): void {
    while (this.#loading.size < AT_ONCE) {
      const key = this.#wanted.shift();
      if (key === undefined) return;
      this.#loading.add(key);
      void this.#load(key);
    }
  }

  async #load(key: string): Promise<void> {
    const image = await load(key);
    this.#loading.delete(key);
    if (image !== undefined) keep(key, image);
    this.#onLoaded();
    this.#next();
  }
}

/** undefined: the server may give it later. */
async function load(key: string): Promise<ImageBitmap | null | undefined> {
  try {
    const response = await ownFetch(`/console/tiles/${key}`);
    if (response.ok) return await createImageBitmap(await response.blob());
    return response.status === BUSY ? undefined : null;
  } catch {
    return undefined;
  }
}

function keep(key: string, image: ImageBitmap | null): void {
  kept.set(key, image);
  for (const oldest of kept.keys()) {
    if (kept.size <= MAX_KEPT) return;
    kept.get(oldest)?.close();
    kept.delete(oldest);
  }
}
