import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { describeInBrowser, openConsole, shoot } from '../support/browser.ts';
import { createProduct, startServer, type TestServer } from '../support/server.ts';
import { createToken } from '../support/tenant.ts';
import { startTileServer, TILE_COLOUR, type TileServer } from '../support/tile-server.ts';

const NAME = '© Makers of maps';

let tiles: TileServer;
let server: TestServer;
let deviceIds: string[];
beforeAll(async () => {
  tiles = await startTileServer();
  const env = { MAP_TILES_URL: tiles.url, MAP_TILES_ATTRIBUTION: NAME };
  server = await startServer({ database: 'sqlite', env });
  ({ deviceIds } = await createProduct(server, { fields: { place: 'GEOLOCATION' }, serialNumbers: ['one'] }));
  await server.record(deviceIds[0]!, { field: 'place', value: '(52.52,13.405)' });
});
beforeEach(() => {
  tiles.answer = null;
});
afterAll(async () => {
  await server.stop();
  await tiles.stop();
});

const get = (path: string, token: string | null = server.adminToken): Promise<Response> =>
  fetch(`${server.url}/console/tiles${path}`, { headers: token === null ? {} : { Authorization: `Token ${token}` } });

test('tiles are for readers: each is fetched once, checked, and the key of the tile server is told nobody', async () => {
  expect(await (await get('')).json()).toEqual({ on: true, attribution: NAME, maxZoom: 19 });
  expect((await get('', null)).status).toBe(401);
  expect((await get('/4/3/2', null)).status).toBe(401);
  const workspace = (await server.gql('{ workspaces { id } }'))['workspaces'][0].id;
  const { secret: writer } = await createToken(server, server.adminToken, workspace, ['RECORD']);
  expect((await get('/4/3/2', writer)).status).toBe(403);
  expect(tiles.asked).toEqual([]);

  const first = await get('/4/3/2');
  expect([first.status, first.headers.get('content-type')]).toEqual([200, 'image/png']);
  expect(first.headers.get('cache-control')).toBe('private, max-age=3600');
  const limits = { deviceIds, fields: ['place'] };
  const { secret: reader } = await createToken(server, server.adminToken, workspace, ['READ'], limits);
  expect(Buffer.from(await (await get('/4/3/2', reader)).arrayBuffer())).toEqual(
    Buffer.from(await first.arrayBuffer()),
  );
  await Promise.all([get('/5/1/1'), get('/5/1/1'), get('/5/1/1')]);
  expect(tiles.asked).toEqual(['/map/4/3/2.png?key=very-secret', '/map/5/1/1.png?key=very-secret']);

  for (const path of [
    '/20/0/0',
    '/2/4/0',
    '/2/0/4',
    '/2/0',
    '/2/0/x',
    '/2/-1/0',
    '/2/0/0/0',
    '/2/0/0.png',
    '/..%2f/1/1',
  ])
    expect((await get(path)).status, path).toBe(400);
  expect(tiles.asked).toHaveLength(2);
  const told = JSON.stringify(server.process.lines);
  expect(told).not.toContain('very-secret');
});

test('what is no picture, too large, elsewhere, or never comes is answered 502; a refusal is known for a while', async () => {
  const wrong: TileServer['answer'][] = [
    { type: 'text/html', body: Buffer.from('<script>1</script>') },
    { type: 'image/svg+xml', body: Buffer.from('<svg/>') },
    { body: Buffer.alloc(600_000) },
    { status: 404 },
    { status: 302 },
  ];
  const refused = async (path: string): Promise<number> => {
    const [before, { status, headers }] = [tiles.asked.length, await get(path)];
    expect([status, headers.get('content-type')], path).toEqual([502, 'application/problem+json']);
    return tiles.asked.length - before;
  };
  for (const [y, answer] of wrong.entries()) {
    tiles.answer = answer;
    expect(await refused(`/6/1/${y}`)).toBe(1);
    tiles.answer = null;
    expect(await refused(`/6/1/${y}`)).toBe(0);
  }
  // What got no answer is asked for again.
  tiles.answer = { never: true };
  expect(await refused('/6/2/1')).toBe(1);
  tiles.answer = null;
  expect((await get('/6/2/1')).status).toBe(200);
  const told = JSON.stringify(server.process.lines);
  expect(told).toContain('it answers no PNG, JPEG or WebP');
  expect(told).not.toContain('very-secret');
});

test('without the setting there are none, and a wrong one stops the start', async () => {
  const plain = await startServer({ database: 'sqlite' });
  try {
    const headers = { Authorization: `Token ${plain.adminToken}` };
    expect(await (await fetch(`${plain.url}/console/tiles`, { headers })).json()).toEqual({ on: false });
    expect((await fetch(`${plain.url}/console/tiles/0/0/0`, { headers })).status).toBe(404);
  } finally {
    await plain.stop();
  }
});

/** The colour in the middle of the map's ground, once all of its tiles have come. */
async function groundOf(page: Page): Promise<number[]> {
  const ground = page.locator('.map-tiles').first();
  await expect.poll(() => ground.getAttribute('data-tiles')).toMatch(/^([1-9]\d*) of \1$/);
  return page.evaluate<number[]>(`(() => {
    const canvas = document.querySelector('.map-tiles');
    const data = canvas.getContext('2d').getImageData(canvas.width / 2, canvas.height / 2, 1, 1).data;
    return [...data].slice(0, 3);
  })()`);
}

describeInBrowser('the ground of maps', () => {
  test('is drawn of tiles that come from this server alone, on the overview, for a device and on a public link', async () => {
    const page = await openConsole(server, '/');
    expect(await groundOf(page)).toEqual([...TILE_COLOUR]);
    await page.getByText(NAME).waitFor();
    await shoot(page, 'map-tiles');
    const before = tiles.asked.length;
    await page.getByRole('application').focus();
    await page.keyboard.press('-');
    await expect.poll(() => tiles.asked.length).toBeGreaterThan(before);
    expect(await groundOf(page)).toEqual([...TILE_COLOUR]);

    const workspace = (await server.gql('{ workspaces { id } }'))['workspaces'][0].id;
    const limits = { deviceIds, fields: ['place'] };
    const { secret } = await createToken(server, server.adminToken, workspace, ['READ'], limits);
    const shared = await openConsole(server, `/share#${secret}`, { signedIn: false });
    expect(await groundOf(shared)).toEqual([...TILE_COLOUR]);
    await shared.getByText(NAME).waitFor();
  });

  test('is the plain grid where the tile server fails', async () => {
    tiles.answer = { status: 500 };
    const [far] = (await createProduct(server, { fields: { place: 'GEOLOCATION' } })).deviceIds;
    await server.record(far!, { field: 'place', value: '(-33.87,151.21)' });
    const page = await openConsole(server, `/devices/${far}`);
    await expect.poll(() => page.locator('.map-tiles').getAttribute('data-tiles')).toMatch(/^0 of \d+$/);
    // Degrees and the scale are there as without tiles.
    expect(await page.locator('.map-face text').count()).toBeGreaterThan(2);
    await page.getByText(NAME).waitFor();
  });
});
