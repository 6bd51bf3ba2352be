import { CompiledQuery, type DatabaseConnection, type Driver } from 'kysely';

/** Commit and savepoints, which are the same for both databases (the migrator nests transactions). */
export abstract class TransactionDriver implements Driver {
  abstract acquireConnection(): Promise<DatabaseConnection>;
  abstract releaseConnection(connection: DatabaseConnection): Promise<void>;
  /** Gives the connection back itself when it fails: Kysely releases only what began. */
  abstract beginTransaction(connection: DatabaseConnection): Promise<void>;
  /** Never rejects: a connection that cannot roll back is thrown away. */
  abstract rollbackTransaction(connection: DatabaseConnection): Promise<void>;
  abstract destroy(): Promise<void>;

  async init(): Promise<void> {}

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await run(connection, 'commit');
  }

  async savepoint(connection: DatabaseConnection, name: string): Promise<void> {
    await run(connection, `savepoint "${name}"`);
  }

  async rollbackToSavepoint(connection: DatabaseConnection, name: string): Promise<void> {
    await run(connection, `rollback to savepoint "${name}"`);
  }

  async releaseSavepoint(connection: DatabaseConnection, name: string): Promise<void> {
    await run(connection, `release savepoint "${name}"`);
  }
}

async function run(connection: DatabaseConnection, sql: string): Promise<void> {
  await connection.executeQuery(CompiledQuery.raw(sql));
}
