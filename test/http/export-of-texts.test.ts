import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectPieces, piecesOfServer } from '../support/pieces.ts';
import { createProduct, EITHER_DATABASE, startServer, type TestServer } from '../support/server.ts';

const MOMENTS = 3_000;
const FIELDS = 2;
const textAt = (at: number): string => `${at} ${'x'.repeat(4_080)}`;

describe.each(EITHER_DATABASE)('files of long texts on %s', (database) => {
  let server: TestServer;
  let device: string;

  beforeAll(async () => {
    server = await startServer({ database, watched: true });
    const fields = Object.fromEntries(Array.from({ length: FIELDS }, (_, at) => [`f${at}`, 'STRING']));
    device = (await createProduct(server, { fields })).deviceIds[0]!;
    for (let from = 0; from < MOMENTS; from += 500) {
      let body = '';
      for (let at = from; at < from + 500; at += 1)
        for (let field = 0; field < FIELDS; field += 1)
          body += `${JSON.stringify({ field: `f${field}`, timestamp: 1_700_000_000 + at, value: textAt(at) })}\n`;
      const response = await fetch(`${server.url}/v1/devices/${device}/import`, {
        method: 'POST',
        headers: { Authorization: `Token ${server.adminToken}`, 'Content-Type': 'application/x-ndjson' },
        body,
      });
      expect(response.status).toBe(200);
    }
  });
  afterAll(() => server.stop());

  test.each(['long', 'wide'])('are whole (%s), and come in small pieces', async (layout) => {
    let lines: string[] = [];
    await expectPieces(6, () =>
      piecesOfServer(server, async () => {
        const response = await fetch(`${server.url}/v1/devices/${device}/history.csv?layout=${layout}`, {
          headers: { Authorization: `Token ${server.adminToken}`, 'Accept-Encoding': 'identity' },
        });
        lines = (await response.text()).split('\n').slice(1, -1);
      }),
    );
    expect(lines.length).toBe(layout === 'long' ? FIELDS * MOMENTS : MOMENTS);
    expect(lines.findIndex((line, at) => !line.endsWith(`,${textAt(at % MOMENTS)}`))).toBe(-1);
  });
});
