import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ownFetch } from '../api/own-fetch.ts';
import type { MapView, Size } from './map-view.ts';
import type { TiledGround } from './tiles-at.ts';

interface GroundProps {
  view: MapView;
  size: Size;
}

/** What the server says, with the code that draws it. */
interface Found {
  ground: TiledGround;
  Layer: ComponentType<GroundProps & { ground: TiledGround }>;
}

/** Asked once for a page; null: maps have a grid alone. */
let asked: Promise<Found | null> | null = null;

async function ask(): Promise<Found | null> {
  const response = await ownFetch('/console/tiles');
  if (!response.ok) return null;
  const answer = (await response.json()) as Partial<TiledGround> & { on: boolean };
  if (!answer.on) return null;
  const { TileLayer } = await import('./tile-layer.tsx');
  return { ground: { attribution: answer.attribution ?? '', maxZoom: answer.maxZoom ?? 0 }, Layer: TileLayer };
}

/** The ground of a map where the server has tiles for it; nothing else, so that a map never waits for it. */
export function MapGround({ view, size }: GroundProps) {
  const [found, setFound] = useState<Found | null>(null);
  useEffect(() => {
    asked ??= ask();
    asked.then(setFound, () => {
      // Ask again for the next map.
      asked = null;
    });
  }, []);
  if (found === null) return null;
  const { Layer, ground } = found;
  return <Layer view={view} size={size} ground={ground} />;
}
