import { EntityManager } from '@mikro-orm/sql';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { fieldId } from '../../src/domain/products/field-id.ts';
import type { Product } from '../../src/domain/entities/product.ts';
import { sweepLateValues } from '../../src/domain/measurements/sweep-late-values.ts';
import { named, readDeviceRows } from '../../src/domain/ingest-cache/device-rows.ts';
import { requireFreeSerials } from '../../src/domain/devices/taken-serials.ts';
import { Plans } from '../../src/domain/plans/plans.ts';
import { sweepRetention } from '../../src/domain/plans/sweep-retention.ts';
import { openDomain, type OpenDomain } from '../support/open-domain.ts';
import { planSteps } from '../support/query-plans.ts';
import { DATABASES } from '../support/server.ts';

const DEVICES = 12_000;
/** Of which a field is forgotten at once. */
const SLICE = 500;

describe.each(DATABASES)('beside very many devices, on %s', (name) => {
  let domain: OpenDomain;
  let product: Product;
  beforeAll(async () => {
    domain = await openDomain(name);
    const { access, products, database } = domain;
    product = await products.create(access, { name: 'p', fields: [{ identifier: 'A', type: 'FLOAT' }] });
    const numbers =
      name === 'sqlite'
        ? `with recursive n (x) as (select 1 union all select x + 1 from n where x < ${DEVICES})`
        : `with n as (select x from generate_series(1, ${DEVICES}) as s (x))`;
    await database.write((em) =>
      em.execute(
        `insert into device (id, workspace_id, product_key, name, serial_number, serial_folded, search_text, plan, tags, created_at)
         ${numbers} select cast(x as varchar(36)), ?, ?, 'd', cast(x as varchar(36)), cast(x as varchar(36)), '', 'unlimited', ?, 1 from n`.replace(
          /^(insert .*?)\s+(with .*?\)) (select)/s,
          '$2 $1 $3',
        ),
        [product.workspace.id, product.key, `\n${'t'.repeat(900)}\n`],
        'run',
      ),
    );
  });
  afterAll(() => domain.close());

  async function purges(fieldKey: number): Promise<number> {
    const sql = 'select count(*) as rows from purge where field_key = ?';
    const [row] = await domain.database.read().execute<{ rows: number }[]>(sql, [fieldKey]);
    return Number(row!.rows);
  }

  test('a plan is given as quickly as beside none', async () => {
    const { access, devices } = domain;
    const [device] = await devices.create(access, product.id, [{ name: 'd' }], 'unlimited');
    const give = async (plan: string): Promise<void> => void (await devices.update(access, device!.id, { plan }));
    await give('free');
    await give('standard');
    if (name === 'postgres') return;
    const counting = 'explain query plan select count(*) from device where workspace_id = ? and plan = ?';
    const [step] = await domain.database.read().execute<{ detail: string }[]>(counting, ['w', 'standard']);
    expect(step!.detail).toContain('device_workspace_id_plan_index');
  });

  test('those that a call names, and serial numbers that are to be free, are looked for among few', async () => {
    const { database } = domain;
    const some = ['1', '2', '3'];
    const inProduct = { key: product.key, workspaceId: product.workspace.id };
    const euis = Array.from({ length: 10_000 }, (_, at) => `a8${at.toString(16).padStart(14, '0')}`);
    const free = (serials: string[]) =>
      database.write((em) => requireFreeSerials(em, name, product, { serials, pathOf: String, asker: domain.access }));
    /** No step goes through the devices one by one, neither of all products nor of this one. */
    const eachByIndex = expect.not.arrayContaining([expect.stringMatching(/SCAN d\b|SCAN device|\(product_key=\?\)$/)]);
    const looks = {
      'by serial number': () => readDeviceRows(database, named(inProduct, some, [])),
      'by serial number or id': () => readDeviceRows(database, named(inProduct, some, some)),
      'by serial number, EUI or id': () =>
        readDeviceRows(database, named(inProduct, [...some, ...euis.slice(0, 3)], some)),
      'taken ones': () => free(Array.from({ length: 50 }, (_, at) => `free ${at}`)),
      'taken EUIs': () => free(euis.slice(0, 50)),
    };
    for (const [what, look] of Object.entries(looks)) {
      if (name === 'sqlite') expect.soft(await planSteps(database, look), what).toEqual(eachByIndex);
      else await look();
    }
    // On SQLite nobody records meanwhile.
    const all = Array.from({ length: 10_000 }, (_, at) => `free ${at}`);
    for (const serials of [all, euis]) {
      const look = (more: string[] = []) => free([...serials, ...more]);
      if (name === 'sqlite') {
        const steps = await planSteps(database, look);
        expect.soft(steps, serials[0]).toEqual(eachByIndex);
        // Ten statements for ten thousand.
        const looks = steps.filter((step) => step.startsWith('SEARCH d'));
        expect.soft(looks.length, serials[0]).toBeLessThanOrEqual(20);
      }
      await expect(look(['7'])).rejects.toThrow(
        '10000: the device "d" of the product "p" already has the serial number "7".',
      );
    }
    expect(await readDeviceRows(database, named(inProduct, some, some))).toHaveLength(some.length);
    expect(await readDeviceRows(database, named(inProduct, [], some))).toHaveLength(some.length);
    expect(await readDeviceRows(database, named(inProduct, [], []))).toEqual([]);
  });

  test('what is old is looked for a few devices at a time, and whether something of theirs waits to be forgotten', async () => {
    const { clock, database } = domain;
    const store = { showHeard: async () => {}, settlePurges: async () => {} };
    await database.write(async (em) => {
      const from = name === 'sqlite' ? 'json_each(?)' : 'json_array_elements_text(?::json) as rows (value)';
      const [columns, values] = name === 'sqlite' ? [', seq', ', 0'] : ['', ''];
      const gone = `insert into device_state (device_key, last_heard_at${columns}) select cast(value as integer), 1${values}`;
      const purge = 'insert into purge (device_key, field_key) select cast(value as integer), null';
      // A statement has five seconds, also on a slow machine.
      for (let first = 0; first < 8_000; first += 1_000) {
        const keys = JSON.stringify(Array.from({ length: 1_000 }, (_, at) => 2_000_000 + first + at));
        await em.execute(`${gone} from ${from}`, [keys], 'run');
        await em.execute(`${purge} from ${from} where value <> '2007999'`, [keys], 'run');
      }
    });
    // Of 12,000 devices and 8,000 that wait.
    const sent = vi.spyOn(EntityManager.prototype, 'execute');
    await sweepLateValues({ database, store, now: () => clock.now }, () => false);
    // On SQLite a statement has the event loop until it is answered: 4,000 devices each.
    expect(sent.mock.calls.length).toBeGreaterThanOrEqual(name === 'sqlite' ? 6 : 3);
    sent.mockClear();
    const found = await database.read().execute<unknown[]>('select 1 from purge where device_key = 2007999');
    expect(found).toHaveLength(1);
    const dropped: number[] = [];
    const dropOlderThan = async (keys: readonly number[]): Promise<void> => void dropped.push(...keys);
    const [free] = await domain.devices.create(domain.access, product.id, [{ name: 'd' }], 'standard');
    const retention = {
      database,
      store: { dropOlderThan, ping: async () => {}, remove: async () => 1, latest: async () => [] },
      plans: new Plans({ free: 90, standard: 730 }),
      now: () => clock.now,
      onLeftOut: () => {},
      onSwept: async () => {},
    };
    await sweepRetention(retention, () => false);
    expect(sent.mock.calls.length).toBeGreaterThanOrEqual(DEVICES / 4_000);
    sent.mockRestore();
    expect(dropped).toContain(free!.key);
    await database.write((em) => em.execute('delete from device_state where device_key >= 2000000', [], 'run'));
  });

  test('fields that were removed an hour ago are forgotten of some of them at a time, however many there are', async () => {
    const { clock, database } = domain;
    const store = { showHeard: async () => {}, settlePurges: async () => {} };
    const fieldKeys = Array.from({ length: 20 }, (_, at) => 1_000_000 + at);
    await database.write(async (em) => {
      const insert = 'insert into removed_field (field_key, product_key, removed_at) values (?, ?, 0)';
      for (const key of fieldKeys) await em.execute(insert, [key, product.key], 'run');
    });
    let looks = 0;
    const sweep = () => sweepLateValues({ database, store, now: () => clock.now }, () => (looks += 1) > 2);
    await sweep();
    expect(looks).toBeGreaterThan(2);
    for (const key of fieldKeys) expect(await purges(key)).toBeLessThanOrEqual(2 * SLICE);
  });

  test('and so is one that is removed', async () => {
    const { access, database, fields } = domain;
    const sql = 'select key from field where product_key = ?';
    const [field] = await database.read().execute<{ key: number }[]>(sql, [product.key]);
    await fields.remove(access, fieldId(field!.key));
    // The sweep may have gone on by now.
    expect(await purges(field!.key)).toBeLessThan(DEVICES / 2);
  });

  test('a stop waits for nothing that is still to be forgotten', async () => {
    const stopped = await openDomain(name);
    const { database } = stopped;
    await database.write(async (em) => {
      const from = name === 'sqlite' ? 'json_each(?)' : 'json_array_elements_text(?::json) as rows (value)';
      const keys = JSON.stringify(Array.from({ length: 20_000 }, (_, at) => 1_000_000 + at));
      const insert = 'insert into purge (device_key, field_key) select cast(value as integer), null';
      await em.execute(`${insert} from ${from}`, [keys], 'run');
      await em.execute('insert into absorbed_device (device_key, into_device_key, absorbed_at) values (1, 2, 0)');
    });
    const absorbed = (): Promise<unknown[]> => database.read().execute('select * from absorbed_device');
    await expect.poll(absorbed).toEqual([]);
    await stopped.close();
  });
});
