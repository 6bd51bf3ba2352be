import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noteChange } from '../../src/domain/access/audit-trail.ts';
import { AuditLog, MAX_AUDIT_ENTRIES } from '../../src/domain/audit/audit-log.ts';
import { uuidV7 } from '../../src/domain/text/uuid.ts';
import { openDomain, type OpenDomain } from '../support/open-domain.ts';
import { countTurns } from '../support/loop-turns.ts';
import { expectPieces, piecesOf } from '../support/pieces.ts';
import { DATABASES } from '../support/server.ts';

const DAY = 86_400_000;

describe.each(DATABASES)('the audit log in %s', (name) => {
  let domain: OpenDomain;
  beforeAll(async () => {
    domain = await openDomain(name);
  });
  afterAll(() => domain.close());

  const list = (workspaceId: string) => domain.auditLog.list(domain.access, workspaceId, {}, 500, null);

  test('an entry and its change are there together or not at all', async () => {
    const { auditLog, workspaces, access } = domain;
    const { id } = await workspaces.create(access, 'before');
    const rename = (args: Record<string, unknown>): Promise<unknown> =>
      auditLog.run('renameWorkspace', args, access, () => workspaces.rename(access, id, 'after'));
    // An entry that cannot be written takes the change back.
    await expect(rename({ name: 1n })).rejects.toThrow(TypeError);
    expect((await workspaces.get(access, id)).name).toBe('before');
    expect((await list(id)).items).toEqual([]);
    await rename({ name: 'after' });
    expect((await list(id)).items).toHaveLength(1);
    const failed = auditLog.run('renameWorkspace', {}, access, () =>
      auditLog.database.write(async () => {
        access.requireWorkspace(id, 'ADMIN');
        throw new Error('power cut');
      }),
    );
    await expect(failed).rejects.toThrow('power cut');
    expect((await list(id)).items).toHaveLength(1);
  });

  test('what a refused operation left running brings no entry along', async () => {
    const { auditLog, access } = domain;
    const { id } = await domain.workspaces.create(access, 'w');
    let later = Promise.resolve();
    const refused = auditLog.run('renameWorkspace', {}, access, () => {
      access.requireWorkspace(id, 'ADMIN');
      later = new Promise((resolve) => setTimeout(resolve, 20)).then(() => auditLog.database.write(async () => {}));
      throw new Error('refused');
    });
    await expect(refused).rejects.toThrow('refused');
    await later;
    expect((await list(id)).items).toEqual([]);
  });

  test('tells of what could not go on to its end once it has changed something, and only then', async () => {
    const { auditLog, access } = domain;
    const { id } = await domain.workspaces.create(access, 'w');
    for (const hasChanged of [false, true]) {
      const ended = auditLog.run('deleteMeasurements', {}, access, async () => {
        access.requireWorkspace(id, 'CONFIGURE');
        if (hasChanged) noteChange();
        throw new Error('power cut');
      });
      await expect(ended).rejects.toThrow('power cut');
      expect((await list(id)).items).toHaveLength(hasChanged ? 1 : 0);
    }
  });

  test('a page that nothing narrows is one look at the database', async () => {
    const { auditLog, access, database, clock } = domain;
    const { id } = await domain.workspaces.create(access, 'w');
    for (const name of ['a', 'b', 'c'])
      await auditLog.run('renameWorkspace', {}, access, () => domain.workspaces.rename(access, id, name));
    let looks = 0;
    const watched = { ...database, read: () => ((looks += 1), database.read()) };
    const own = new AuditLog({ database: watched, now: () => clock.now });
    const first = await own.list(access, id, { userId: null }, 2, null);
    expect([first.items.length, first.hasNextPage, looks]).toEqual([2, true, 1]);
    const rest = await own.list(access, id, {}, 2, first.items[1]!.id);
    expect([rest.items.length, rest.hasNextPage, looks]).toEqual([1, false, 2]);
  });

  test('forgets what is too old, and of each workspace the oldest that are too many', async () => {
    const { auditLog, access, database } = domain;
    const [full, other] = [await domain.workspaces.create(access, 'full'), await domain.workspaces.create(access, 'o')];
    const now = domain.clock.now;
    const insert = async (workspaceId: string, ats: number[]): Promise<void> => {
      for (let from = 0; from < ats.length; from += 1000)
        await database.write(async (em) => {
          const rows = ats.slice(from, from + 1000);
          await em.execute(
            `insert into audit_entry (id, workspace_id, at, operation, token_id, subjects, arguments) values ${rows.map(() => "(?, ?, ?, 'x', 't', '[]', '{}')").join(', ')}`,
            rows.flatMap((at) => [uuidV7(at), workspaceId, at]),
          );
        });
    };
    await insert(
      full.id,
      Array.from({ length: MAX_AUDIT_ENTRIES + 1500 }, (_, index) => now - 30_000 + index),
    );
    await insert(other.id, [now - 366 * DAY, now - 364 * DAY]);
    await auditLog.forgetBefore(now - 365 * DAY, () => false);
    // Where little or nothing is found all are gone through, which on SQLite was one piece.
    const loop = countTurns();
    const nothing = { userId: 'nobody' };
    expect(await auditLog.count(access, full.id, nothing)).toBe(0);
    expect((await auditLog.list(access, full.id, nothing, 50, null)).items).toEqual([]);
    loop.stop();
    expect(loop.turns).toBeGreaterThan(15);
    const ats: number[] = [];
    for (let after: string | null = null; ats.length < 4_200;) {
      const { items } = await auditLog.list(access, full.id, { from: 0 }, 700, after);
      ats.push(...items.map(({ at }) => at));
      after = items.at(-1)!.id;
    }
    expect(ats).toEqual(ats.map((_, at) => now - 30_000 + MAX_AUDIT_ENTRIES + 1499 - at));
    expect(await auditLog.count(access, full.id, {})).toBe(MAX_AUDIT_ENTRIES);
    expect((await list(full.id)).items[0]!.at).toBe(now - 30_000 + MAX_AUDIT_ENTRIES + 1499);
    expect((await list(other.id)).items.map(({ at }) => (now - at) / DAY)).toEqual([364]);
    // Until the next sweep there may come any number.
    const rename = () =>
      auditLog.run('renameWorkspace', {}, access, () => domain.workspaces.rename(access, full.id, 'w'));
    for (let count = 0; count < 99; count += 1) await rename();
    expect(await auditLog.count(access, full.id, {})).toBe(MAX_AUDIT_ENTRIES + 99);
    await rename();
    expect(await auditLog.count(access, full.id, {})).toBe(MAX_AUDIT_ENTRIES);
    // Also of what could not go on to its end.
    const failing = async (): Promise<never> => {
      access.requireWorkspace(full.id, 'CONFIGURE');
      noteChange();
      throw new Error('power cut');
    };
    for (let count = 0; count < 100; count += 1)
      await auditLog.run('deleteMeasurements', {}, access, failing).catch(() => {});
    expect(await auditLog.count(access, full.id, {})).toBe(MAX_AUDIT_ENTRIES);
  });

  // On PostgreSQL it keeps nobody waiting.
  const onSqlite = name === 'sqlite' ? test : () => {};
  onSqlite('looks through one log after the other for those that are too long', async () => {
    const { auditLog, database } = domain;
    await database.write((em) =>
      em.execute(
        `with recursive n (x) as (select 0 union all select x + 1 from n where x < 299999)
         insert into audit_entry (id, workspace_id, at, operation, token_id, subjects, arguments)
         select 'many ' || x, 'w' || (x / 10000), 1, 'x', 't', '[]', '{}' from n`,
        [],
        'run',
      ),
    );
    await expectPieces(4, () => piecesOf(() => auditLog.forgetBefore(0, () => false)));
  });
});
