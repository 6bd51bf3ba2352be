import { createHash, randomBytes } from 'node:crypto';
import Sqlite from 'better-sqlite3';
import { Kysely, PostgresDialect, SqliteDialect } from 'kysely';
import pg from 'pg';
import type { Size, World } from './world.ts';

/** So many parameters fit into a statement of either database. */
const ROWS_AT_ONCE = 500;
const LIMITED_TOKENS = 100;
const MAX_SUGGESTIONS = 200;
/** What a limit of a token may name. */
const MAX_LIMIT = 1_000;

type Row = Record<string, unknown>;

type Made = Pick<World, 'workspaceId' | 'productId' | 'spareProductId' | 'deviceIds'>;

/** Writes rows that would take minutes through a server; resolves with their ids. No server may run on the database. */
export async function fillRows(
  databaseUrl: string,
  size: Size,
  made: Made,
): Promise<Pick<World, 'productIds' | 'tokenIds' | 'userIds' | 'unknownIds'>> {
  const isSqlite = databaseUrl.startsWith('sqlite:');
  const db = new Kysely<any>({
    dialect: isSqlite
      ? new SqliteDialect({ database: new Sqlite(databaseUrl.slice('sqlite:'.length)) })
      : new PostgresDialect({ pool: new pg.Pool({ connectionString: databaseUrl, max: 1 }) }),
  });
  try {
    return await db.transaction().execute((inside) => new Filling(inside, size, made, isSqlite).fill());
  } finally {
    await db.destroy();
  }
}

class Filling {
  readonly #db: Kysely<any>;
  readonly #size: Size;
  readonly #made: Made;
  readonly #isSqlite: boolean;
  readonly #now = Date.now();

  constructor(db: Kysely<any>, size: Size, made: Made, isSqlite: boolean) {
    this.#db = db;
    this.#size = size;
    this.#made = made;
    this.#isSqlite = isSqlite;
  }

  async fill(): Promise<Pick<World, 'productIds' | 'tokenIds' | 'userIds' | 'unknownIds'>> {
    const { key } = await this.#productRow(this.#made.productId);
    const spare = await this.#productRow(this.#made.spareProductId);
    await this.#fillParts(Number(key), Number(spare['key']));
    await this.#fillDevices(Number(key));
    const productIds = await this.#fillProducts();
    const tokenIds = await this.#fillTokens(productIds);
    const userIds = await this.#fillUsers();
    const unknownIds = await this.#fillUnknown();
    await this.#fillAudit(tokenIds[0]!);
    return { productIds, tokenIds, userIds, unknownIds };
  }

  async #fillParts(product: number, spare: number): Promise<void> {
    const { parts } = this.#size;
    const described = { name: this.#text(200), description: this.#text(2000) };
    await this.#db
      .updateTable('field')
      .set({ ...described, unit: this.#text(50) })
      .where('product_key', '=', product)
      .execute();
    await this.#insert('configuration_field', parts * 2, (at) => ({
      product_key: product,
      identifier: `c${at}`,
      type: 'STRING',
      ...described,
      default_value: JSON.stringify(this.#text(4096)),
    }));
    await this.#insert('decoder_example', parts, (at) => ({
      id: uuid(1, at),
      product_key: product,
      name: `${at}${this.#text(190)}`,
      created_at: this.#now,
      request: JSON.stringify({ body: this.#text(40_000) }),
      expected: JSON.stringify(Array.from({ length: parts * 8 }, () => ({ device: 'd', field: 'f', value: 1 }))),
    }));
    for (const owner of [product, spare])
      await this.#insert('decoder_version', Math.min(parts, 60), (at) => ({
        product_key: owner,
        version: at + 2,
        note: this.#text(10_000),
        author: 'somebody@example.org',
        created_at: this.#now,
        source: `function Decoder() { return [] } /*${this.#text(60_000).repeat(4)}*/`,
      }));
    await this.#db.deleteFrom('suggested_field').where('product_key', '=', product).execute();
    await this.#insert('suggested_field', Math.min(parts * 2, MAX_SUGGESTIONS), (at) => ({
      product_key: product,
      identifier: `s${at}`,
      type: 'STRING',
      last_value: JSON.stringify(this.#text(256)),
      name: this.#text(200),
      unit: this.#text(50),
      seen: 1,
      ignored: this.#flag(false),
      last_seen_at: this.#now,
    }));
    const widget = {
      kind: 'value',
      title: this.#text(200),
      fields: Array.from({ length: Math.min(50, parts) }, (_, at) => `f${at}`),
      place: { x: 0, y: 0, width: 1, height: 1 },
    };
    const dashboard = { widgets: Array.from({ length: Math.min(parts * 2, 200) }, () => widget) };
    await this.#db
      .updateTable('product')
      .set({ dashboard: JSON.stringify(dashboard) })
      .where('key', '=', product)
      .execute();
  }

  async #fillDevices(product: number): Promise<void> {
    const { parts, text } = this.#size;
    const tags = Array.from({ length: Math.min(50, parts) }, (_, at) => `tag${at}`.padEnd(Math.min(100, text), 't'));
    const metadata = JSON.stringify(Array.from({ length: parts * 5 }, (_, a) => ({ a })));
    const own = await this.#db
      .selectFrom('configuration_field')
      .select('key')
      .where('product_key', '=', product)
      .execute();
    const configuration = JSON.stringify(Object.fromEntries(own.map(({ key }) => [key, this.#text(300)])));
    await this.#db
      .updateTable('device')
      .set({ metadata, tags: `\n${tags.join('\n')}\n`, location: this.#text(500) })
      .where('product_key', '=', product)
      .execute();
    await this.#db
      .updateTable('device')
      .set({ configuration, metadata: JSON.stringify(Array.from({ length: parts * 200 }, () => [])) })
      .where('id', 'in', this.#made.deviceIds.slice(0, Math.min(parts * 5, 500)))
      .execute();
  }

  async #fillProducts(): Promise<string[]> {
    const { key: _, ...row } = await this.#productRow(this.#made.spareProductId);
    const { dashboard } = await this.#productRow(this.#made.productId);
    const name = this.#text(190);
    return this.#insert('product', this.#size.products, (at) => ({
      ...row,
      id: uuid(2, at),
      name: `${name}${at}`,
      search_text: `${name}${at}`,
      webhook_id: randomBytes(16).toString('hex'),
      // As text for both: the driver of PostgreSQL has read it already.
      dashboard: at % 10 > 0 ? '{"widgets":[]}' : typeof dashboard === 'string' ? dashboard : JSON.stringify(dashboard),
    }));
  }

  async #fillTokens(productIds: readonly string[]): Promise<string[]> {
    const products = JSON.stringify(productIds.slice(0, MAX_LIMIT));
    const devices = JSON.stringify(this.#made.deviceIds.slice(0, MAX_LIMIT));
    return this.#insert('token', this.#size.tokens, (at) => ({
      id: uuid(3, at),
      name: this.#text(200),
      kind: 'INDIVIDUAL',
      user_id: null,
      workspace_id: this.#made.workspaceId,
      scopes: JSON.stringify(['READ', 'RECORD', 'CONFIGURE', 'ADMIN']),
      product_ids: at < LIMITED_TOKENS ? products : null,
      device_ids: at < LIMITED_TOKENS ? devices : null,
      hash: createHash('sha256').update(`walk ${at}`).digest('hex'),
      created_at: this.#now,
      last_used_at: null,
      expires_at: null,
      signed_in: this.#flag(false),
    }));
  }

  async #fillUsers(): Promise<string[]> {
    const { others } = this.#size;
    const ids = await this.#insert('user_account', others, (at) => ({
      id: uuid(4, at),
      email: `u${at}@${this.#text(200)}.org`,
      name: this.#text(200),
      password_hash: null,
      operator: this.#flag(false),
      created_at: this.#now,
    }));
    await this.#insert('member', others, (at) => ({
      workspace_id: this.#made.workspaceId,
      user_id: ids[at]!,
      role: 'VIEWER',
    }));
    return ids;
  }

  async #fillUnknown(): Promise<string[]> {
    const ids = await this.#insert('unknown_device', this.#size.others, (at) => ({
      id: uuid(5, at),
      workspace_id: this.#made.workspaceId,
      identifier: `unknown${at}`,
      identity: `unknown${at}`,
      network: 'tti',
      first_seen_at: this.#now,
      last_seen_at: this.#now,
      seen: 2,
    }));
    const body = JSON.stringify({ text: this.#text(10_000) });
    await this.#insert('unknown_call', this.#size.others, (at) => ({
      id: uuid(6, at),
      unknown_device_id: ids[at]!,
      received_at: this.#now,
      path: '',
      query: '{}',
      headers: '{}',
      body,
    }));
    return ids;
  }

  async #fillAudit(tokenId: string): Promise<void> {
    const subjects = JSON.stringify(Array.from({ length: 20 }, (_, at) => uuid(8, at)));
    const told = JSON.stringify({ input: Array.from({ length: 60 }, () => ({ a: 'x'.repeat(20) })) });
    await this.#insert('audit_entry', this.#size.auditEntries, (at) => ({
      id: uuid(7, at),
      workspace_id: this.#made.workspaceId,
      at: this.#now,
      operation: 'updateDevice',
      token_id: tokenId,
      token_name: this.#text(200),
      user_id: null,
      user_email: null,
      subjects,
      arguments: told,
    }));
  }

  async #insert(table: string, many: number, row: (at: number) => Row): Promise<string[]> {
    const rows = Array.from({ length: many }, (_, at) => row(at));
    for (let from = 0; from < many; from += ROWS_AT_ONCE)
      await this.#db
        .insertInto(table)
        .values(rows.slice(from, from + ROWS_AT_ONCE))
        .execute();
    return rows.map(({ id }) => id as string);
  }

  async #productRow(id: string): Promise<Row> {
    return this.#db.selectFrom('product').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  }

  /** So long where everything is long. */
  #text(length: number): string {
    return 't'.repeat(Math.min(length, this.#size.text));
  }

  #flag(value: boolean): boolean | number {
    return this.#isSqlite ? Number(value) : value;
  }
}

function uuid(kind: number, number: number): string {
  return `01900000-0000-7000-80${String(kind).padStart(2, '0')}-${String(number).padStart(12, '0')}`;
}
