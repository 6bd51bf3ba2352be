import { expect, test } from 'vitest';
import { sweepAlertEvents, sweepAlerts } from '../../../src/domain/alerts/sweep-alerts.ts';
import { uuidV7 } from '../../../src/domain/text/uuid.ts';
import { openDomain } from '../../support/open-domain.ts';
import { DATABASES } from '../../support/server.ts';

const DAY_MS = 86_400_000;

test.each(DATABASES)(
  'alerts that are over are kept for a year, and states of devices that are gone go, on %s',
  async (name) => {
    const { database, access, products, devices, rules, clock, close } = await openDomain(name);
    try {
      const product = await products.create(access, { name: 'p', fields: [{ identifier: 'a', type: 'FLOAT' }] });
      const [device] = await devices.create(access, product.id, [{ name: 'd' }]);
      const levels = [{ severity: 'INFO' as const, all: [{ absentSeconds: 60 }] }];
      const rule = await rules.create(access, product.id, { name: 'r', levels });
      const [kept, open, old] = [-364, -400, -366].map((days) => uuidV7(clock.now + days * DAY_MS));
      const isOpen = name === 'sqlite' ? [0, 1] : [false, true];
      await database.write(async (em) => {
        for (const [id, isOn] of [
          [kept, isOpen[0]],
          [open, isOpen[1]],
          [old, isOpen[0]],
        ] as const)
          await em.execute(
            `insert into alert (id, workspace_id, rule_key, device_key, state, severity, is_open, started_at, late, trace)
           values (?, ?, ?, ?, 'RESOLVED', 'INFO', ?, 0, ?, '[]')`,
            [id, product.workspace.id, rule.key, device!.key, isOn, isOpen[0]],
          );
        for (const key of [device!.key, 999_999])
          await em.execute("insert into rule_state (device_key, states) values (?, '{}')", [key]);
      });
      await sweepAlerts({ database, now: () => clock.now });
      const left = await database.read().execute<{ id: string }[]>('select id from alert order by id');
      expect(left.map(({ id }) => id)).toEqual([open, kept]);
      expect(await database.read().execute('select device_key as "key" from rule_state')).toEqual([
        { key: device!.key },
      ]);
    } finally {
      await close();
    }
  },
);

test('changes of alerts are kept for an hour, and it is noted which are gone', async () => {
  const { database, clock, close } = await openDomain('sqlite');
  try {
    await database.write(async (em) => {
      for (let seq = 1; seq <= 1_202; seq += 1)
        await em.execute(
          "insert into alert_event (seq, at, workspace_id, device_key, alert) values (?, ?, 'w', 1, '{}')",
          [seq, clock.now - (seq <= 1_200 ? 3_600_001 : 3_599_000)],
        );
    });
    await sweepAlertEvents({ database, now: () => clock.now });
    expect(await database.read().execute('select seq from alert_event')).toEqual([{ seq: 1_201 }, { seq: 1_202 }]);
    expect(await database.read().execute('select forgotten from rule_reader')).toEqual([{ forgotten: 1_200 }]);
  } finally {
    await close();
  }
});
