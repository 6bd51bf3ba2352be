import type { Caller } from '../../scheduling/caller.ts';

/** The place of a tile: the whole world is one of zoom 0, and each next zoom has four for one. */
export interface TilePlace {
  z: number;
  x: number;
  y: number;
}

/** A picture of 256 × 256 pixels or more. */
export interface Tile {
  contentType: string;
  bytes: Buffer;
}

/** The ground of maps, as the operator's tile server has it. */
export interface MapTiles {
  /** What maps say of it. */
  attribution: string;
  /** A tile; null: the tile server gave none that can be shown. Throws OVERLOADED. */
  tileAt: (caller: Caller, place: TilePlace) => Promise<Tile | null>;
}
