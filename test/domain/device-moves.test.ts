import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { fieldId } from '../../src/domain/products/field-id.ts';
import { StoredKeys } from '../../src/domain/moves/stored-keys.ts';
import { openDomain, type OpenDomain } from '../support/open-domain.ts';
import { DATABASES } from '../support/server.ts';

const UNCONFIRMED = { isConfirmed: false, piece: <T>(work: () => Promise<T>) => work() };

describe.each(DATABASES)('a move that something comes between, on %s', (name) => {
  let domain: OpenDomain;
  beforeAll(async () => {
    domain = await openDomain(name);
  });
  afterAll(() => domain.close());

  const make = async (...identifiers: string[]) => {
    const fields = identifiers.map((identifier) => ({ identifier, type: 'FLOAT' as const }));
    const product = await domain.products.create(domain.access, { name: 'p', fields });
    const [device] = await domain.devices.create(domain.access, product.id, [{ name: 'd' }], 'unlimited');
    return { product, device: device! };
  };
  const fieldKey = async (productId: string, identifier: string): Promise<number> =>
    (await domain.ingestCache.product(productId))!.fields.get(identifier)!.key;
  const write = async (device: { key: number }, productId: string, identifier: string, value: number) =>
    domain.store.append({
      batches: [
        {
          deviceKey: device.key,
          receivedAt: 1_000,
          fieldKeys: [await fieldKey(productId, identifier)],
          timestamps: [value],
          values: [value],
        },
      ],
    });
  const read = async (device: { key: number }, productId: string, identifier: string): Promise<unknown[]> => {
    const query = { deviceKey: device.key, fieldKey: await fieldKey(productId, identifier), newestFirst: false };
    return (await domain.store.range({ ...query, limit: 100 })).values;
  };
  const move = (id: string, productId: string) => domain.devices.update(domain.access, id, { productId }, UNCONFIRMED);

  test('leaves the device where it was when it ends before the last transaction, and can be made again', async () => {
    const [a, b] = [await make('t'), await make('t')];
    await write(a.device, a.product.id, 't', 1);
    vi.spyOn(domain.cluster, 'changed').mockRejectedValueOnce(new Error('ended'));
    await expect(move(a.device.id, b.product.id)).rejects.toThrow('ended');
    await domain.cluster.changed([{ kind: 'everything' }]);
    expect((await domain.devices.get(domain.access, a.device.id)).product.id).toBe(a.product.id);
    await write(a.device, a.product.id, 't', 2);
    expect(await read(a.device, a.product.id, 't')).toEqual([1, 2]);
    await move(a.device.id, b.product.id);
    expect(await read(a.device, b.product.id, 't')).toEqual([1, 2]);
  });

  test('finds what another node still commits under the product that the device has left', async () => {
    const [a, b] = [await make('t'), await make('t')];
    await move(a.device.id, b.product.id);
    const after = await domain.store.position();
    await write(a.device, a.product.id, 't', 1);
    await write(a.device, b.product.id, 't', 2);
    expect(await read(a.device, b.product.id, 't')).toEqual([1, 2]);
    const query = { after, upTo: null, place: null, deviceKeys: [a.device.key], limit: 10 };
    const { readings } = await domain.store.recorded(query);
    const keys = [await fieldKey(a.product.id, 't'), await fieldKey(b.product.id, 't')];
    expect(readings.map(({ fieldKeys }) => fieldKeys.toSorted((one, other) => one - other))).toEqual([keys, keys]);
  });

  test('leaves nothing of a field that is removed from its product', async () => {
    const [a, b] = [await make('t', 'u'), await make('t', 'u')];
    for (const identifier of ['t', 'u']) await write(a.device, a.product.id, identifier, 1);
    await move(a.device.id, b.product.id);
    await domain.fields.remove(domain.access, fieldId(await fieldKey(b.product.id, 'u')));
    await domain.store.settlePurges();
    // Under the key of the old product's field, which has them in the store.
    expect(await read(a.device, a.product.id, 'u')).toEqual([]);
    expect(await read(a.device, b.product.id, 't')).toEqual([1]);
  });

  test('is refused when the fields have changed since it was prepared', async () => {
    const [a, b] = [await make('t'), await make('t')];
    await write(a.device, a.product.id, 't', 1);
    const changed = domain.cluster.changed.bind(domain.cluster);
    vi.spyOn(domain.cluster, 'changed').mockImplementationOnce(async (changes) => {
      await changed(changes);
      const { fields } = (await domain.ingestCache.product(b.product.id))!;
      await domain.database.write((em) =>
        em.execute('delete from field where "key" = ?', [fields.get('t')!.key], 'run'),
      );
      await changed([{ kind: 'product', id: b.product.id }]);
    });
    await expect(move(a.device.id, b.product.id)).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(await read(a.device, a.product.id, 't')).toEqual([1]);
    expect((await domain.devices.get(domain.access, a.device.id)).product.id).toBe(a.product.id);
  });

  test('is known to every node before the device is in its new product', async () => {
    const [a, b] = [await make('t'), await make('t')];
    const other = new StoredKeys(domain.database, domain.cluster);
    await other.of([]);
    const changed = domain.cluster.changed.bind(domain.cluster);
    const seen: unknown[] = [];
    vi.spyOn(domain.cluster, 'changed').mockImplementationOnce(async (changes) => {
      await changed(changes);
      const keys = await other.of([{ deviceKey: a.device.key }]);
      const stored = keys.get(a.device.key)?.stored.get(await fieldKey(b.product.id, 't'));
      seen.push(stored, (await domain.devices.get(domain.access, a.device.id)).product.id);
    });
    await move(a.device.id, b.product.id);
    expect(seen).toEqual([await fieldKey(a.product.id, 't'), a.product.id]);
    // Without a move nobody waits for the database.
    expect(other.of([{ deviceKey: a.device.key }])).not.toBeInstanceOf(Promise);
  });
});
