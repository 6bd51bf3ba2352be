import type { MikroORM } from '@mikro-orm/sql';
import { describe, expect, test } from 'vitest';
import { openPostgresOrm, openSqliteOrm } from '../src/database/open-orm.ts';
import { createDatabase, DATABASES } from './support/server.ts';

describe.each(DATABASES)('migrations on %s', (name) => {
  test('bring an empty database to exactly what the entities say, and run once', async () => {
    const database = await createDatabase(name);
    const open = (): Promise<MikroORM> =>
      name === 'postgres' ? openPostgresOrm(database.url) : openSqliteOrm(database.url.slice('sqlite:'.length));
    // Two nodes that start together on PostgreSQL must not migrate twice.
    const orms = name === 'postgres' ? await Promise.all([open(), open(), open()]) : [await open()];
    try {
      const difference = await orms[0]!.schema.getUpdateSchemaSQL({ wrap: false });
      expect(difference.trim()).toBe('');
      expect(await orms[0]!.migrator.getPending()).toEqual([]);
    } finally {
      await Promise.all(orms.map((orm) => orm.close()));
      await database.drop();
    }
  });
});
