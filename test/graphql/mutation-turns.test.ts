import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDomain, type OpenDomain } from '../support/open-domain.ts';
import { openGraphql } from '../support/open-graphql.ts';
import { DATABASES } from '../support/server.ts';

describe.each(DATABASES)('many mutations in one document, %s', (name) => {
  let domain: OpenDomain;
  beforeAll(async () => {
    domain = await openDomain(name);
  });
  afterAll(() => domain.close());

  test('wait for their turn again when their caller has used its share', async () => {
    const { ask } = openGraphql(domain);
    const document = `mutation { ${Array.from({ length: 12 }, (_, at) => `m${at}: createProduct(input: { name: "p" }) { id }`).join(' ')} }`;
    domain.shares.noteOthers();
    const timed = async (): Promise<number> => {
      const from = performance.now();
      expect(Object.keys(await ask(document))).toHaveLength(12);
      return performance.now() - from;
    };
    await timed();
    // Those before it.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const alone = await timed();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    domain.shares.noteOthers();
    const others = setInterval(() => domain.shares.noteOthers(), 20);
    // While the first of them goes on.
    setImmediate(() => domain.shares.spend({ tokenId: domain.access.tokenId, tenant: domain.access.tenant }, 550));
    const beside = await timed();
    clearInterval(others);
    // 500 ms over what is free, of three tenths of the time: until 1.7 s have gone by, on a busy machine, too.
    expect(beside).toBeGreaterThan(alone + 400);
  });
});
