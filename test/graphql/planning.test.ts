import { test } from 'vitest';
import { expectPieces, piecesOfServer } from '../support/pieces.ts';
import { createProduct, startServer } from '../support/server.ts';

test('twenty histories of one operation, whose buckets take 20 ms each to lay out, hold up nobody', async () => {
  const server = await startServer({ database: 'sqlite', watched: true });
  try {
    const [device] = (await createProduct(server)).deviceIds;
    const hours = 'resolution: "1h", timeZone: "Europe/Berlin", fill: NONE';
    const range = (at: number): string => `from: "2000-01-01T00:00:00Z", to: "2022-06-01T00:00:${10 + at}Z"`;
    const histories = Array.from({ length: 20 }, (_, at) => `h${at}: history(${range(at)}, ${hours}) { values }`);
    const query = `{ device(id: "${device}") { ${histories.join(' ')} } }`;
    await expectPieces(6, () => piecesOfServer(server, () => server.gql(query)));
  } finally {
    await server.stop();
  }
});
