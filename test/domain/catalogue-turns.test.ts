import type { MikroORM } from '@mikro-orm/sql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDomain, type OpenDomain } from '../support/open-domain.ts';
import { OrmDatabase } from '../../src/database/orm-database.ts';
import { BatchedFlight } from '../../src/scheduling/batched-flight.ts';
import type { Caller } from '../../src/scheduling/caller.ts';
import { currentCaller, runAs } from '../../src/scheduling/current-caller.ts';
import { DATABASES } from '../support/server.ts';

const CROWD = { tokenId: 'crowd', tenant: 'crowd' };
const OTHER = { tokenId: 'other', tenant: 'other' };
const LONG_MS = 250;

describe.each(DATABASES)('transactions on %s', (name) => {
  let domain: OpenDomain;
  beforeAll(async () => {
    domain = await openDomain(name);
  });
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

test('who looks up one thing on PostgreSQL does not wait for the hundreds that one operation of others asks', async () => {
  const domain = await openDomain('postgres');
  try {
    const look = (party: Caller): Promise<unknown> =>
      runAs(party, () => domain.database.read().execute('select pg_sleep(0.03)'));
    let ended = 0;
    const crowd = Array.from({ length: 200 }, () => look(CROWD).then(() => (ended += 1)));
    await new Promise((resolve) => setTimeout(resolve, 200));
    const before = ended;
    await look(OTHER);
    expect(ended - before).toBeLessThan(50);
    expect(ended).toBeLessThan(150);
    await Promise.all(crowd);
  } finally {
    await domain.close();
  }
});

test('nor does it wait where they hold their connections for long', async () => {
  const domain = await openDomain('postgres');
  try {
    const look = (party: Caller, seconds: number): Promise<unknown> =>
      runAs(party, () => domain.database.read().execute(`select pg_sleep(${seconds})`));
    let ended = 0;
    const crowd = Array.from({ length: 20 }, () => look(CROWD, 1).then(() => (ended += 1)));
    await look(OTHER, 0);
    expect(ended).toBe(0);
    await Promise.all(crowd);
  } finally {
    await domain.close();
  }
});

test('the heartbeat stands in a line of its own for its connection, too', async () => {
  const waited: string[] = [];
  const transactional = async (): Promise<void> => void waited.push(`connection: ${currentCaller().tenant}`);
  const orm = { em: { fork: () => ({ transactional }) } } as unknown as MikroORM;
  const take = async (party?: Caller): Promise<() => void> => {
    waited.push(`turn: ${party?.tenant}`);
    return () => {};
  };
  await new OrmDatabase(orm, 'postgres', { take }).beat(1);
  expect(waited).toEqual(['turn: heartbeat', 'connection: heartbeat']);
});

test('devices that are looked up together stand in the line of the tenant that asks for them', async () => {
  const rounds: string[] = [];
  const loads = new BatchedFlight((keys) => {
    rounds.push(`${currentCaller().tenant}: ${keys.join(' ')}`);
    return Promise.resolve(new Map(keys.map((key) => [key, key])));
  });
  const ask = (party: Caller, key: string): Promise<string | null> => runAs(party, () => loads.of(key));
  const asked = [ask(CROWD, 'a'), ask(OTHER, 'b'), ask(CROWD, 'c')];
  expect(await Promise.all(asked)).toEqual(['a', 'b', 'c']);
  expect(rounds).toEqual(['crowd: a c', 'other: b']);
});
