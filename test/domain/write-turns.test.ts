import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDomain, type OpenDomain } from '../support/open-domain.ts';
import { DATABASES } from '../support/server.ts';

const CROWD = { tokenId: 'crowd', tenant: 'crowd' };
const OTHER = { tokenId: 'other', tenant: 'other' };
const LONG_MS = 250;

describe.each(DATABASES)('transactions on %s', (name) => {
  let domain: OpenDomain;
  beforeAll(async () => {
    domain = await openDomain(name);
  }, 60_000);
  afterAll(() => domain.close());

  test('of a tenant that has dozens of long ones few go on, and others wait for one, after seconds too', async () => {
    let [running, most, ended] = [0, 0, 0];
    let isOver = false;
    const crowd = Array.from({ length: 60 }, () =>
      domain.database.write(async () => {
        most = Math.max(most, (running += 1));
        if (!isOver) await new Promise((resolve) => setTimeout(resolve, LONG_MS));
        running -= 1;
        ended += 1;
      }, CROWD),
    );
    // Longer than anybody waited for others, whatever they did.
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    const before = ended;
    await domain.database.write((em) => em.execute('select 1'), OTHER);
    const endedMeanwhile = ended - before;
    isOver = true;
    await Promise.all(crowd);
    expect(most).toBe(name === 'sqlite' ? 1 : 2);
    expect(endedMeanwhile).toBeLessThanOrEqual(3);
  });
});
