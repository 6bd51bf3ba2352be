import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OpenDomain, openDomain } from '../support/open-domain.ts';
import { DATABASES } from '../support/server.ts';

/** Statements of sweeps and the like meanwhile. */
const OTHERS = 15;

interface Statements {
  execute: (...args: unknown[]) => Promise<unknown>;
}

describe.each(DATABASES)('statements of an apply, on %s', (database) => {
  let domain: OpenDomain;
  let count = 0;
  beforeAll(async () => {
    domain = await openDomain(database);
    const connection = domain.database.read().getConnection() as unknown as Statements;
    const execute = connection.execute.bind(connection);
    connection.execute = (...args) => {
      count += 1;
      return execute(...args);
    };
  });
  afterAll(() => domain?.close());

  /** Plans and applies products with so many fields each; returns the statements that it took. */
  async function statements(prefix: string, products: number, fields: number, unit: string): Promise<number> {
    const document = JSON.stringify({
      products: Array.from({ length: products }, (_, at) => ({
        key: `${prefix}-${at}`,
        name: `Product ${at}`,
        fields: Array.from({ length: fields }, (__, field) => ({ identifier: `F${field}`, type: 'FLOAT', unit })),
        configurationFields: Array.from({ length: fields }, (__, field) => ({
          identifier: `C${field}`,
          type: 'STRING',
          default: unit,
        })),
      })),
    });
    const { configurationPlans, configurationApply, access } = domain;
    count = 0;
    const { hash, pending, blocked } = await configurationPlans.plan(access, { document });
    expect(blocked).toEqual([]);
    expect(pending.length).toBeGreaterThan(0);
    await configurationApply.apply(access, { document }, hash);
    return count;
  }

  test('there is none for each field, and few for each product', async () => {
    const few = await statements('few', 10, 2, 'a');
    const many = await statements('many', 10, 20, 'a');
    expect(many).toBeLessThanOrEqual(few + OTHERS);
    const changed = await statements('many', 10, 20, 'b');
    expect(changed).toBeLessThanOrEqual((await statements('few', 10, 2, 'b')) + OTHERS);
    const wide = await statements('wide', 40, 20, 'a');
    expect(wide).toBeLessThanOrEqual(many + 2 * 30 + OTHERS);
    expect(await statements('wide', 40, 20, 'b')).toBeLessThanOrEqual(changed + 2 * 30 + OTHERS);
  });
});
