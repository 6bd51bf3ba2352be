import { expect, test } from 'vitest';
import { CallFailures } from '../../src/domain/outgoing/call-failures.ts';
import type { Outbox } from '../../src/domain/outgoing/outbox.ts';
import { callRow } from '../support/call-row.ts';
import { openDomain } from '../support/open-domain.ts';

test('a failure whose event could not be written is told when it can be', async () => {
  const domain = await openDomain('sqlite');
  const [workspaceId] = domain.access.workspaceIds();
  await domain.endpoints.create(domain.access, workspaceId!, {
    name: 'here',
    kind: 'WEBHOOK',
    url: 'https://example.com/',
    events: ['call.failed'],
  });
  const product = await domain.products.create(domain.access, { name: 'p' });
  let errors = 0;
  const outbox = {
    write: (...given: Parameters<Outbox['write']>) =>
      errors === 0 ? Promise.reject(new Error('the database is away')) : domain.outbox.write(...given),
    wake: () => {},
  };
  const failures = new CallFailures({
    database: domain.database,
    store: domain.store,
    outbox: outbox as Outbox,
    now: Date.now,
    onError: () => (errors += 1),
  });
  const ids = [crypto.randomUUID(), crypto.randomUUID()];
  for (const id of ids) failures.note(product.id, callRow(1, Date.now(), { id, status: 'DECODER_FAILED' }));
  const told = () => domain.database.read().execute<{ body: string }[]>('select body from delivery order by "key"');
  await expect.poll(told).toHaveLength(2);
  expect((await told()).map(({ body }) => JSON.parse(body).data.call.id)).toEqual(ids);
  expect(errors).toBe(1);
  await failures.stop();
  await domain.close();
});
