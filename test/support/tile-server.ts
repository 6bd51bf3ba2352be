import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { crc32, deflateSync } from 'node:zlib';

/** The colour of every tile, as red, green and blue. */
export const TILE_COLOUR = [30, 120, 200] as const;

/** A tile server on a port of its own, whose tiles are of one colour. */
export interface TileServer {
  /** For `MAP_TILES_URL`; it holds a key. */
  url: string;
  /** Paths that were asked for, with their queries. */
  asked: string[];
  /** What it answers instead of a tile: null: a tile. */
  answer: { status?: number; type?: string; body?: Buffer; never?: true } | null;
  stop: () => Promise<void>;
}

/** Starts a tile server. */
export async function startTileServer(): Promise<TileServer> {
  const asked: string[] = [];
  const picture = onePixel();
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    const { status = 200, type = 'image/png', body = picture, never } = tiles.answer ?? {};
    if (never === true) return;
    response.writeHead(status, { 'Content-Type': type }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const tiles: TileServer = {
    url: `http://127.0.0.1:${port}/map/{z}/{x}/{y}.png?key=very-secret`,
    asked,
    answer: null,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return tiles;
}

/** A PNG of one pixel, which is drawn as large as a tile. */
function onePixel(): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(1, 0);
  header.writeUInt32BE(1, 4);
  // 8 bits for each of red, green and blue.
  header.set([8, 2], 8);
  const rows = deflateSync(Buffer.from([0, ...TILE_COLOUR]));
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', rows), chunk('IEND', Buffer.alloc(0))]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}
