import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Device } from '../../src/domain/entities/device.ts';
import { fieldId } from '../../src/domain/products/field-id.ts';
import { openDomain, type OpenDomain } from '../support/open-domain.ts';
import { DATABASES } from '../support/server.ts';

describe.each(DATABASES)('a file that goes on while what it brings is changed, on %s', (name) => {
  let domain: OpenDomain;
  beforeAll(async () => {
    domain = await openDomain(name);
  });
  afterAll(() => domain.close());

  const lines = (count: number, from: number, field = 'f', device = ''): string =>
    Array.from({ length: count }, (_, at) => `${device}${field},${1_600_000_000 + from + at},1\n`).join('');

  async function product(devices: string[]): Promise<{ id: string; devices: Device[] }> {
    const { id } = await domain.products.create(domain.access, {
      name: 'p',
      fields: [{ identifier: 'f', type: 'FLOAT' }],
    });
    const input = devices.map((serialNumber) => ({ name: serialNumber, serialNumber }));
    return { id, devices: await domain.devices.create(domain.access, id, input, 'unlimited') };
  }

  /** What became of a file of which the second part came after the change. */
  async function brought(device: Device | null, first: string, change: () => Promise<unknown>, second: string) {
    async function* text(): AsyncGenerator<string> {
      yield first;
      await change();
      yield second;
    }
    const info = device && (await domain.ingestCache.device(device.id));
    return domain.importer.run(domain.access, { kind: 'csv' }, info, text());
  }

  /** How many values of the product's field `f` a device has. */
  async function count({ id, key }: Device): Promise<number> {
    const { product: of } = (await domain.ingestCache.device(id))!;
    const field = { deviceKey: key, fieldKey: of.fields.get('f')!.key };
    return (await domain.store.range({ ...field, from: 0, to: 1e15, newestFirst: false, limit: 10_000 })).timestamps
      .length;
  }

  const HEAD = 'field,timestamp,value\n';

  test('ends when its device is deleted: what is not stored is not said to be', async () => {
    const { devices } = await product(['gone']);
    const [gone] = devices as [Device];
    const remove = () => domain.devices.delete(domain.access, [gone.id]);
    const importing = brought(gone, HEAD + lines(10, 0), remove, lines(6_000, 1_000));
    await expect(importing).rejects.toMatchObject({ code: 'NOT_FOUND', details: { lines: 0, stored: 0, values: 0 } });
  });

  test('refuses the lines of a device that is gone, and stores those of others', async () => {
    const { devices } = await product(['named', 'other']);
    const remove = () => domain.devices.delete(domain.access, [devices[0]!.id]);
    const first = `device,${HEAD}${lines(10, 0, 'f', 'named,')}${lines(10, 0, 'f', 'other,')}`;
    const outcome = await brought(null, first, remove, lines(3_000, 1_000, 'f', 'named,'));
    expect(outcome).toMatchObject({ lines: 3_020, stored: 10, refused: 3_010, values: 10 });
    expect(outcome.rejected).toHaveLength(1_000);
    expect(outcome.rejected[0]).toMatchObject({ line: 2, code: 'UNKNOWN_DEVICE' });
  });

  test('brings the values of a field that was made again into that one', async () => {
    const { id, devices } = await product(['again']);
    const [device] = devices as [Device];
    const again = async (): Promise<void> => {
      const field = (await domain.ingestCache.product(id))!.fields.get('f')!;
      await domain.fields.remove(domain.access, fieldId(field.key));
      await domain.fields.add(domain.access, id, { identifier: 'f', type: 'FLOAT' });
    };
    const { stored } = await brought(device, HEAD + lines(10, 0), again, lines(6_000, 1_000));
    expect(stored).toBe(6_010);
    expect(await count(device)).toBe(6_010);
  });

  test('takes a field that was added meanwhile', async () => {
    const { id, devices } = await product(['late']);
    const add = () => domain.fields.add(domain.access, id, { identifier: 'late', type: 'FLOAT' });
    const outcome = await brought(devices[0]!, HEAD + lines(10, 0), add, lines(100, 1_000, 'late'));
    expect(outcome).toMatchObject({ stored: 110, refused: 0 });
  });

  test('says what is stored of it when the database does not answer who a device is', async () => {
    const { devices } = await product(['there']);
    const fail = async (): Promise<never> => {
      throw Object.assign(new Error('terminated'), { code: '57P01' });
    };
    const away = async (): Promise<void> => {
      domain.pause.afterRead = fail;
    };
    const first = `device,${HEAD}${lines(6_000, 0, 'f', 'there,')}`;
    const importing = brought(null, first, away, lines(1, 10_000, 'f', 'another,'));
    await expect(importing).rejects.toMatchObject({ code: 'UNAVAILABLE', details: { stored: 5_000, values: 5_000 } });
    expect(await count(devices[0]!)).toBe(5_000);
  });

  test('is stored as it comes when it comes slowly', async () => {
    const { devices } = await product(['slow']);
    const later = () => new Promise((resolve) => setTimeout(resolve, 1_100));
    let storedBefore = 0;
    async function* text(): AsyncGenerator<string> {
      yield HEAD + lines(1, 0);
      await later();
      yield lines(1, 1);
      storedBefore = await count(devices[0]!);
    }
    await domain.importer.run(domain.access, { kind: 'csv' }, await domain.ingestCache.device(devices[0]!.id), text());
    expect(storedBefore).toBe(1);
  });
});
