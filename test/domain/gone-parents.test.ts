import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FieldSchema } from '../../src/domain/entities/field.ts';
import { UnknownCallSchema } from '../../src/domain/entities/unknown-call.ts';
import { UnknownDeviceSchema } from '../../src/domain/entities/unknown-device.ts';
import { openDomain, type OpenDomain } from '../support/open-domain.ts';
import { DATABASES } from '../support/server.ts';

describe.each(DATABASES)('rows of what is deleted at the same time, on %s', (name) => {
  let domain: OpenDomain;
  beforeAll(async () => {
    domain = await openDomain(name);
  });
  afterAll(() => domain.close());

  test('whatever they are, what they belong to is not there', async () => {
    const field = { identifier: 'f', type: 'FLOAT', name: null, unit: null, description: null, role: null } as const;
    const adding = domain.database.write(async (em) => em.create(FieldSchema, { product: 2_000_000_000, ...field }));
    await expect(adding).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  test('a call that comes while its unknown device is adopted is kept nevertheless', async () => {
    const { id } = await domain.workspaces.create(domain.access, 'w');
    const request = { method: 'POST', path: '/', GET: {}, headers: [], body: '{}' };
    const keep = () => domain.unknownDevices.keep(id, 'tti', '0011223344556677', request);
    await keep();
    let late = Promise.resolve(false);
    await domain.database.write(async (em) => {
      await em.nativeDelete(UnknownDeviceSchema, { workspace: id });
      late = keep();
      late.catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 300));
    });
    expect(await late).toBe(true);
    const calls = await domain.database.read().count(UnknownCallSchema, { unknownDevice: { workspace: id } });
    expect(calls).toBe(1);
  });
});
