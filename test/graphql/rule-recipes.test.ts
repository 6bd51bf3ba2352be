import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createProduct, EITHER_DATABASE, startServer } from '../support/server.ts';

const PAGE = readFileSync(new URL('../../docs/rules.md', import.meta.url), 'utf8');
const TRY = `mutation ($id: ID!, $from: DateTime!, $to: DateTime!) {
  testRule(ruleId: $id, from: $from, to: $to) { severity startedAt firedAt endedAt } }`;
const BEGIN = 1_790_000_000;

/** Values of each field, as [minute, value]. */
const VALUES: Record<string, [number, unknown][]> = {
  TEMPERATURE: [[0, -18], [10, -14], [15, -16], [21, -7], [40, -16], [50, -18], [60, -14], [65, -18], [400, -18]],
  DOOR: [[0, 'closed'], [10, 'open'], [12, 'closed'], [20, 'open'], [60, 'closed']],
  POSITION: [[0, '(52.52,13.405)'], [30, '(52.53,13.405)'], [60, '(52.52,13.405)']],
  BATTERY: [[0, 3.4], [30, 3.1], [60, 2.9]],
}; // oxfmt-ignore

/** What each recipe makes of them: severity, and minutes of its begin, its firing and its end. */
const EPISODES: Record<string, unknown[]> = {
  freezer: [['CRITICAL', 10, 20, 50]],
  door: [['WARNING', 20, 25, 60]],
  tracker: [['CRITICAL', 30, 30, null]],
  battery: [['INFO', 60, 60, null]],
  silent: [['WARNING', 125, 125, 400]],
};

test.each(EITHER_DATABASE)('the recipes, pasted as they stand, fire when their pages say, on %s', async (database) => {
  const server = await startServer({ database });
  const fields = { TEMPERATURE: 'FLOAT', DOOR: 'BOOLEAN', POSITION: 'GEOLOCATION', BATTERY: 'FLOAT' };
  const { id, deviceIds } = await createProduct(server, { fields, serialNumbers: ['s'] });
  const entries = Object.entries(VALUES).flatMap(([field, values]) =>
    values.map(([minute, value]) => ({ field, value, timestamp: BEGIN + minute * 60 })),
  );
  expect((await server.record(deviceIds[0]!, entries)).status).toBe(200);
  const recipes = [...PAGE.matchAll(/```graphql\n([^]*?)```/g)].map(([, recipe]) => recipe!.replace('PRODUCT', id));
  expect(recipes).toHaveLength(5);
  const [from, to] = [BEGIN, BEGIN + 401 * 60].map((seconds) => new Date(seconds * 1_000).toISOString());
  const found: Record<string, unknown[]> = {};
  for (const recipe of recipes) {
    const { createRule } = await server.gql(recipe, {});
    const { testRule } = await server.gql(TRY, { id: createRule.id, from, to });
    const minutes = (time: string | null): number | null =>
      time === null ? null : (Date.parse(time) / 1_000 - BEGIN) / 60;
    found[/key: "(\w+)"/.exec(recipe)![1]!] = testRule.map((episode: Record<string, any>) => [
      episode['severity'],
      ...['startedAt', 'firedAt', 'endedAt'].map((name) => minutes(episode[name])),
    ]);
  }
  expect(found).toEqual(EPISODES);
  await server.stop();
});
