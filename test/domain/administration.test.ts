import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Access } from '../../src/domain/access/access.ts';
import { fieldId } from '../../src/domain/products/field-id.ts';
import type { DeviceInfo, ProductInfo } from '../../src/domain/ingest-cache/ingest-cache.ts';
import type { NewToken } from '../../src/domain/accounts/new-token.ts';
import { TokenSchema } from '../../src/domain/entities/token.ts';
import { SuggestedFieldSchema } from '../../src/domain/entities/suggested-field.ts';
import { openDomain, type OpenDomain } from '../support/open-domain.ts';
import { DATABASES } from '../support/server.ts';

describe.each(DATABASES)('administration, %s', (name) => {
  let domain: OpenDomain;
  beforeAll(async () => {
    domain = await openDomain(name);
  });
  afterAll(() => domain.close());

  /** A workspace of its own with a product. */
  async function place(product: { deviceType?: 'API' | 'LORAWAN' } = {}) {
    const workspace = await domain.workspaces.create(domain.access, 'w');
    const created = await domain.products.create(domain.access, { name: 'p', workspaceId: workspace.id, ...product });
    return { workspaceId: workspace.id, productId: created.id };
  }

  async function addDevice(productId: string, serialNumber?: string, plan = 'unlimited') {
    const input = { name: 'd', ...(serialNumber === undefined ? {} : { serialNumber }) };
    const [row] = await domain.devices.create(domain.access, productId, [input], plan);
    return row!;
  }

  async function accessOf(workspaceId: string, token: Partial<NewToken>): Promise<Access> {
    const input: NewToken = { name: 't', kind: 'INDIVIDUAL', workspaceId, scopes: ['READ', 'RECORD'], ...token };
    const { secret } = await domain.tokens.create(domain.access, input);
    return (await domain.authenticator.authenticate(secret))!;
  }

  describe('a device in memory is found for recording', () => {
    test('only with the scope RECORD', async () => {
      const { workspaceId, productId } = await place();
      const { id } = await addDevice(productId);
      const reader = await accessOf(workspaceId, { scopes: ['READ'] });
      const recorder = await accessOf(workspaceId, { scopes: ['RECORD'] });
      expect((await domain.deviceFinder.forRecording(recorder, id)).id).toBe(id);
      expect(domain.deviceFinder.cached(recorder, id)?.id).toBe(id);
      expect(domain.deviceFinder.cached(reader, id)).toBeNull();
      await expect(domain.deviceFinder.forRecording(reader, id)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    });

    test('only within the limits of the token', async () => {
      const { workspaceId, productId } = await place();
      const [mine, other] = [await addDevice(productId), await addDevice(productId)];
      await domain.ingestCache.device(other.id);
      const limited = await accessOf(workspaceId, { deviceIds: [mine.id] });
      expect(domain.deviceFinder.cached(limited, other.id)).toBeNull();
      await expect(domain.deviceFinder.forRecording(limited, other.id)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    });

    test("by a serial number that is another tenant's device id", async () => {
      const theirs = await addDevice((await place()).productId);
      const { workspaceId, productId } = await place();
      const mine = await addDevice(productId, theirs.id);
      const access = await accessOf(workspaceId, {});
      expect((await domain.deviceFinder.forRecording(access, theirs.id)).id).toBe(mine.id);
    });
  });

  test('the first two devices of a workspace are free, however many ask at once', async () => {
    const { workspaceId } = await place();
    // Each has a product of its own: what they share is the workspace.
    const products = await Promise.all(
      Array.from({ length: 8 }, () => domain.products.create(domain.access, { name: 'p', workspaceId })),
    );
    const asked = await Promise.allSettled(products.map(({ id }) => addDevice(id, undefined, 'free')));
    const codes = asked.map((answer) => (answer.status === 'rejected' ? answer.reason.code : 'made'));
    expect(codes.toSorted()).toEqual([...Array.from({ length: 6 }, () => 'PLAN_LIMIT'), 'made', 'made']);
  });

  test('a device may be given the plan that it has, also when that is used up', async () => {
    const { productId } = await place();
    const device = await addDevice(productId, 'a', 'free');
    await addDevice(productId, 'b', 'free');
    expect((await domain.devices.update(domain.access, device.id, { plan: 'free', name: 'n' })).name).toBe('n');
  });

  test('at most 10,000 devices are deleted at once', async () => {
    const ids = Array.from({ length: 10_001 }, () => crypto.randomUUID());
    const answer = domain.devices.delete(domain.access, ids);
    await expect(answer).rejects.toMatchObject({ code: 'BAD_USER_INPUT', message: expect.stringContaining('10000') });
  });

  test('serial numbers that differ in case are two of an API product, and each is taken', async () => {
    const { productId } = await place();
    const device = await addDevice(productId, 'abc');
    await addDevice(productId, 'ABC');
    const answer = domain.devices.update(domain.access, device.id, { serialNumber: 'ABC' });
    await expect(answer).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  test('a product has at most 100 examples, a request of one at most 200 headers', async () => {
    const { productId } = await place();
    const add = (name: string, headers: object = {}): Promise<unknown> =>
      domain.examples.addDecoderExample(domain.access, productId, name, { headers }, []);
    const headers = Object.fromEntries(Array.from({ length: 201 }, (_, at) => [`x-${at}`, '1']));
    await expect(add('many', headers)).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
    const { 'x-0': _, ...fewer } = headers;
    await add('200', fewer);
    for (let at = 1; at < 100; at += 1) await add(`example ${at}`);
    await expect(add('one more')).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
  });

  test('a product is made with at most 500 fields', async () => {
    const { workspaceId } = await place();
    const fields = Array.from({ length: 501 }, (_, at) => ({ identifier: `f${at}`, type: 'FLOAT' as const }));
    const answer = domain.products.create(domain.access, { name: 'p', workspaceId, fields });
    await expect(answer).rejects.toMatchObject({ code: 'BAD_USER_INPUT', message: expect.stringContaining('500') });
    await domain.products.create(domain.access, { name: 'p', workspaceId, fields: fields.slice(1) });
  });

  test("a limited token sees no member's address, and of another token only the products that both cover", async () => {
    const { workspaceId, productId } = await place();
    const second = await domain.products.create(domain.access, { name: 'q', workspaceId });
    const limited = await accessOf(workspaceId, { productIds: [productId] });
    await expect(domain.workspaces.members(limited, workspaceId)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    const unlimited = await accessOf(workspaceId, {});
    expect(await domain.workspaces.members(unlimited, workspaceId)).toHaveLength(1);

    const wide = await accessOf(workspaceId, { productIds: [productId, second.id] });
    const token = await domain.database.read().findOneOrFail(TokenSchema, { id: wide.tokenId });
    const shownTo = async (access: Access): Promise<string[] | undefined> =>
      (await domain.tokens.productsOf(access, token))?.map(({ id }) => id);
    expect(await shownTo(wide)).toEqual([productId, second.id]);
    expect(await shownTo(limited)).toEqual([productId]);
  });

  describe('suggested fields', () => {
    async function sighted() {
      const { productId } = await place();
      const device = (await domain.ingestCache.device((await addDevice(productId)).id)) as DeviceInfo;
      const send = (...fields: string[]) =>
        domain.recorder.record(
          device,
          fields.map((field) => ({ field, value: 1 })),
          { limited: false, receivedAt: domain.clock.now },
        );
      const suggested = async () =>
        (await domain.fields.suggestions(domain.access, productId)).map(({ identifier, seen }) => [identifier, seen]);
      return { productId, product: device.product as ProductInfo, send, suggested };
    }

    test('sightings add up, also when they are written one after the other', async () => {
      const { send, suggested } = await sighted();
      await send('X', 'X', 'Y');
      expect(await suggested()).toEqual([
        ['X', 2],
        ['Y', 1],
      ]);
      await send('X');
      expect(await suggested()).toEqual([
        ['X', 3],
        ['Y', 1],
      ]);
    });

    test('of a product that is sent anything, 200 are kept', async () => {
      const { send, suggested } = await sighted();
      await send(...Array.from({ length: 150 }, (_, at) => `first_${at}`));
      expect(await suggested()).toHaveLength(150);
      await send(...Array.from({ length: 150 }, (_, at) => `second_${at}`));
      expect(await suggested()).toHaveLength(200);
      await send('first_7');
      expect((await suggested())[0]).toEqual(['first_7', 2]);
    });

    test('what became a field is suggested no more: not when another node saw it late, nor when the field is removed', async () => {
      const { productId, product, send, suggested } = await sighted();
      await send('X');
      expect(await suggested()).toEqual([['X', 1]]);
      const field = await domain.fields.add(domain.access, productId, { identifier: 'X', type: 'FLOAT' });
      expect(await suggested()).toEqual([]);
      await domain.fields.remove(domain.access, fieldId(field.key));
      expect(await suggested()).toEqual([]);

      await domain.fields.add(domain.access, productId, { identifier: 'X', type: 'FLOAT' });
      const refusal = { index: 0, field: 'X', code: 'UNKNOWN_FIELD', message: '' } as const;
      domain.suggestions.note(product, refusal, { field: 'X', value: 1 }, domain.clock.now);
      expect(await suggested()).toEqual([]);
    });

    test('a stop writes those that wait', async () => {
      const { product, send } = await sighted();
      await send('LAST');
      await domain.suggestions.stop();
      const where = { product: product.key, identifier: 'LAST' };
      expect(await domain.database.read().count(SuggestedFieldSchema, where)).toBe(1);
    });
  });

  test('a replay tells who watches the call log', async () => {
    const { productId } = await place({ deviceType: 'LORAWAN' });
    const request = { method: 'POST', path: '/integrations/lorawan/tti/', GET: {}, POST: {}, headers: [], body: '{}' };
    const product = (await domain.ingestCache.product(productId)) as ProductInfo;
    const reader = { party: domain.access, turns: { next: async () => {}, spend: () => {} } };
    const watching = await domain.callFeed.subscribe(product, { last: 0, statuses: null }, reader);
    await addDevice(productId, '70B3D57ED0000001');
    const body = JSON.stringify({
      end_device_ids: { dev_eui: '70B3D57ED0000001' },
      uplink_message: { f_port: 1, frm_payload: 'AQ==' },
    });
    const answer = await domain.webhookReceiver.receive(async () => ({ product }), { ...request, body });
    expect(answer.status).toBe(202);
    const live = (await watching.next()).value;
    const { calls } = await domain.replay.replayCalls(domain.access, productId, {});
    expect(calls).toBe(1);
    const told = await Promise.race([
      watching.next(),
      new Promise((resolve) => setTimeout(resolve, 120_000, 'nothing')),
    ]);
    expect(told).toMatchObject({ value: { id: live.id } });
    await watching.return!();
  });
});
