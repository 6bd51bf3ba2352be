import { EntityManager } from '@mikro-orm/sql';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Field, FieldSchema } from '../../src/domain/entities/field.ts';
import type { Product } from '../../src/domain/entities/product.ts';
import { openDomain, type OpenDomain } from '../support/open-domain.ts';
import { EITHER_DATABASE } from '../support/server.ts';

const FIELDS = Array.from({ length: 500 }, (_, at) => ({
  identifier: `f${at}`,
  type: 'FLOAT' as const,
  name: 'n'.repeat(190),
  description: 'd'.repeat(900),
}));

describe.each(EITHER_DATABASE)('a clone of a product with the most fields, on %s', (name) => {
  let domain: OpenDomain;
  beforeAll(async () => {
    domain = await openDomain(name);
  });
  afterAll(() => domain.close());

  const fieldsOf = async ({ key: product }: Product): Promise<Partial<Field>[]> => {
    const rows = await domain.database.read().find(FieldSchema, { product }, { orderBy: { key: 'asc' } });
    return rows.map(({ identifier, type, name: shown, description }) => ({
      identifier,
      type,
      name: shown,
      description,
    }));
  };

  test('has them in their order, and holds nobody up', async () => {
    const { access, products } = domain;
    const workspaceId = (await domain.workspaces.create(access, 'w')).id;
    const product = await products.create(access, { name: 'p', workspaceId, fields: FIELDS });
    const made = vi.spyOn(EntityManager.prototype, 'create');
    const found = vi.spyOn(EntityManager.prototype, 'map');
    await products.clone(access, product.id, 'clone');
    // The fields are copied by the database: as entities they would hold the event loop.
    expect(made.mock.calls.length + found.mock.calls.length).toBeLessThan(10);
    made.mockRestore();
    found.mockRestore();
    const { items } = await products.list(access, { search: 'clone', limit: 1 });
    expect(await fieldsOf(items[0]!)).toMatchObject(FIELDS);
  });
});
