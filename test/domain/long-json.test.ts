import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readLongJson } from '../../src/domain/sql/long-json.ts';
import { openDomain, type OpenDomain } from '../support/open-domain.ts';
import { EITHER_DATABASE } from '../support/server.ts';

describe.each(EITHER_DATABASE)('JSON that is read by itself, %s', (name) => {
  let domain: OpenDomain;
  beforeAll(async () => {
    domain = await openDomain(name);
  });
  afterAll(() => domain.close());

  test('comes as text, whatever it says: its length counts', async () => {
    const { id: workspaceId } = await domain.workspaces.create(domain.access, 'place');
    const product = await domain.products.create(domain.access, { name: 'p', workspaceId });
    for (const metadata of [5, -0.1, 1e300, true, false, '5', 'text', [1], { a: null }]) {
      const devices = await domain.devices.create(domain.access, product.id, [{ name: 'd', metadata }], 'unlimited');
      const key = devices[0]!.key;
      const text = (await readLongJson(domain.database.read(), domain.database.dialect, 'metadata', [key])).get(key);
      expect(text).toBeTypeOf('string');
      expect(JSON.parse(text!)).toEqual(metadata);
    }
  });
});
