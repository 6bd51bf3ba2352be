import type { EntityManager } from '@mikro-orm/sql';
import { conflict } from '../../errors.ts';
import type { Access } from '../access/access.ts';
import { holdRights } from '../access/hold-rights.ts';
import type { Cluster } from '../ports/cluster.ts';
import type { Database } from '../ports/database.ts';
import { ProductSchema } from '../entities/product.ts';
import { TokenSchema } from '../entities/token.ts';
import { lockWorkspace } from '../accounts/lock-workspace.ts';
import type { Authenticator } from '../accounts/authenticator.ts';
import { deleteInSlices } from '../sql/delete-in-slices.ts';
import type { ProductService } from './product-service.ts';

/** Maximum rounds of deleting products that were created meanwhile. */
const ROUNDS = 10;
/** Rows deleted per transaction: calls of 64 KiB, tokens of up to 80 KB, entries of a few KB. */
const [CALLS_AT_ONCE, TOKENS_AT_ONCE, ENTRIES_AT_ONCE] = [100, 100, 500];

interface WorkspaceRemovalDeps {
  authenticator: Pick<Authenticator, 'follow'>;
  database: Database;
  cluster: Cluster;
  products: ProductService;
  now: () => number;
}

/** Deletes a workspace with everything in it (CONTRACT 1). */
export class WorkspaceRemoval {
  readonly #deps: WorkspaceRemovalDeps;

  constructor(deps: WorkspaceRemovalDeps) {
    this.#deps = deps;
  }

  /**
   * Deletes products one by one, each with its measurements and calls, then calls of unknown devices, INDIVIDUAL tokens
   * and members; users stay. Interrupted, also by the loss of the right, it can be asked for again. CONFLICT when
   * products keep being created. Returns the id.
   */
  async delete(access: Access, id: string): Promise<string> {
    const { authenticator, database, cluster, products, now } = this.#deps;
    const accessNow = authenticator.follow(access);
    const allowed = async (): Promise<Access> => {
      const present = await accessNow();
      for (const scope of ['ADMIN', 'CONFIGURE'] as const) present.requireWorkspace(id, scope);
      return present;
    };
    await allowed();
    for (let round = 0; round < ROUNDS; round += 1) {
      const where = { workspace: id, deletedAt: null };
      const rows = await database.read().find(ProductSchema, where, { fields: ['id'] });
      for (const product of rows) await products.delete(await allowed(), product.id);
      // Complete deletions that began before and were interrupted.
      await products.finishDeletions(() => false);
      await this.#emptyOut(id, access.tokenId, allowed);
      const gone = await database.write(async (em) => {
        const held = { workspaces: { id }, tokens: { workspace: id } };
        (await holdRights(em, access, now(), held)).requireWorkspace(id, 'ADMIN');
        const workspace = await lockWorkspace(em, id);
        if ((await em.count(ProductSchema, { workspace: id })) > 0) return null;
        const tokens = await em.find(TokenSchema, { workspace: id }, { fields: ['id'] });
        // Read plain rows: thousands of entities would block the event loop.
        const members = await em.execute<{ id: string }[]>('select user_id as id from member where workspace_id = ?', [
          id,
        ]);
        em.remove(workspace);
        return [
          ...tokens.map((token) => ({ kind: 'token' as const, id: token.id })),
          ...members.map((user) => ({ kind: 'user' as const, id: user.id })),
        ];
      });
      if (gone === null) continue;
      await cluster.changed([{ kind: 'workspace', id }, ...gone]);
      // Delete the log last: a workspace that stays keeps it.
      const entries = { table: 'audit_entry', key: 'id', where: 'workspace_id = ?', of: [id] };
      await deleteInSlices(database, { ...entries, atOnce: ENTRIES_AT_ONCE });
      return id;
    }
    throw conflict('Products keep being created in the workspace; stop that first.');
  }

  /** Deletes the parts that may have hundreds of megabytes; the calling token stays to the end. */
  async #emptyOut(id: string, callingTokenId: string, allowed: () => Promise<unknown>): Promise<void> {
    const { database, cluster } = this.#deps;
    const hold = (em: EntityManager): Promise<unknown> => lockWorkspace(em, id);
    const around = { before: allowed, hold };
    const ofDevices = 'unknown_device_id in (select id from unknown_device where workspace_id = ?)';
    const calls = { table: 'unknown_call', key: 'id', where: ofDevices, of: [id] };
    await deleteInSlices(database, { ...calls, atOnce: CALLS_AT_ONCE }, around);
    const others = { table: 'token', key: 'id', where: 'workspace_id = ? and id <> ?', of: [id, callingTokenId] };
    const after = (ids: readonly unknown[]): Promise<void> =>
      cluster.changed(ids.map((token) => ({ kind: 'token', id: String(token) })));
    await deleteInSlices(database, { ...others, atOnce: TOKENS_AT_ONCE }, { ...around, after });
  }
}
