import { test } from 'vitest';
import { expectPieces, piecesOfServer } from '../support/pieces.ts';
import { startServer } from '../support/server.ts';
import { createWorkspace } from '../support/tenant.ts';
import { ConfigurationClient } from './configuration-client.ts';

test('a long document leaves the event loop to others, as JSON and as YAML', async () => {
  const server = await startServer({ database: 'sqlite', watched: true });
  try {
    const client = new ConfigurationClient(server, await createWorkspace(server, 'long'));
    const documentOf = (unit: string): string =>
      JSON.stringify({
        products: Array.from({ length: 250 }, (_, at) => ({
          key: `product-${at}`,
          name: `Product ${at}`,
          fields: Array.from({ length: 20 }, (__, field) => ({ identifier: `FIELD_${field}`, type: 'FLOAT', unit })),
        })),
      });
    await client.apply(documentOf('a'));
    const yaml = await client.export();
    let unit = 0;
    await expectPieces(2, () => piecesOfServer(server, () => client.plan(documentOf('b'))));
    await expectPieces(3, () => piecesOfServer(server, () => client.plan(yaml)));
    await expectPieces(2, () => piecesOfServer(server, () => client.apply(documentOf(`u${(unit += 1)}`))));
    await expectPieces(2, () => piecesOfServer(server, () => client.export()));
  } finally {
    await server.stop();
  }
});
