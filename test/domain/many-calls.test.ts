import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { Access } from '../../src/domain/access/access.ts';
import type { TokenScope } from '../../src/domain/entities/token.ts';
import type { CallRow } from '../../src/domain/ports/store.ts';
import { callRow } from '../support/call-row.ts';
import { openDomain, type OpenDomain } from '../support/open-domain.ts';
import { DATABASES } from '../support/server.ts';

const CALLS = 45_000;
const FAILED = 5;
const AT_ONCE = 5_000;

describe.each(DATABASES)('a log of many calls, %s', (name) => {
  let domain: OpenDomain;
  let [productId, workspaceId] = ['', ''];

  beforeAll(async () => {
    domain = await openDomain(name);
    workspaceId = (await domain.workspaces.create(domain.access, 'w')).id;
    productId = (await domain.products.create(domain.access, { name: 'p', workspaceId })).id;
    const { key } = (await domain.ingestCache.product(productId))!;
    const from = Date.now() - CALLS;
    for (let at = 0; at < CALLS; at += AT_ONCE)
      await Promise.all(
        Array.from({ length: AT_ONCE }, (_, i) =>
          domain.store.append({ batches: [], call: call(key, from + at + i, at + i < FAILED) }),
        ),
      );
  });
  afterAll(() => domain.close());

  test('is counted on the caller’s account, a slice at a time for all callers together', async () => {
    const counted: number[] = [];
    let underWay = 0;
    const countCalls = domain.store.countCalls.bind(domain.store);
    const counting = vi.spyOn(domain.store, 'countCalls').mockImplementation(async (query) => {
      expect((underWay += 1)).toBe(1);
      const slice = await countCalls(query);
      underWay -= 1;
      counted.push(slice.count);
      return slice;
    });
    const spending = vi.spyOn(domain.shares, 'spend');
    const { calls, access } = domain;
    const [all, failed] = await Promise.all([
      calls.count(access, productId, {}),
      calls.count(access, productId, { status: ['DECODER_FAILED', 'NO_DECODER'] }),
    ]);
    expect([all, failed]).toEqual([CALLS, FAILED]);
    expect(Math.max(...counted)).toBeLessThan(CALLS / 2);
    expect(spending.mock.calls.map(([caller]) => caller)).toEqual(counted.map(() => access));
    counting.mockRestore();
    spending.mockRestore();
  });

  test('is counted in turns of the tenants: who asks once does not wait for the many times of another', async () => {
    const { calls, access } = domain;
    const scopes = new Map([[workspaceId, new Set<TokenScope>(['READ'])]]);
    const kept = { kind: 'INDIVIDUAL' as const, operator: false, signedIn: false };
    const unlimited = { userId: null, productIds: null, deviceIds: null, fields: null, expiresAt: null };
    const other = new Access({ tokenId: 'other', scopes, ...kept, ...unlimited });
    const counting = vi.spyOn(domain.store, 'countCalls');
    const many = Array.from({ length: 20 }, (_, at) => calls.count(access, productId, { from: at }));
    await eventually(() => expect(counting).toHaveBeenCalled());
    const before = counting.mock.calls.length;
    const few = await calls.count(other, productId, { status: ['DECODER_FAILED'] });
    const meanwhile = counting.mock.calls.length - before;
    expect([few, ...new Set(await Promise.all(many))]).toEqual([FAILED, CALLS]);
    expect(meanwhile).toBeLessThan(6);
    counting.mockRestore();
  });
});

function call(productKey: number, receivedAt: number, hasFailed: boolean): CallRow {
  const ran = { httpStatus: 200, decoderVersion: 1 };
  const status = hasFailed ? 'DECODER_FAILED' : 'STORED';
  return callRow(productKey, receivedAt, { body: 'something that a device said', status, ...ran });
}
