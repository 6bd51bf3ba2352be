import type { EntityManager } from '@mikro-orm/sql';
import type { Role } from '../entities/member.ts';
import type { TokenScope } from '../entities/token.ts';
import { TOKEN_SCOPES } from '../entities/token.ts';
import type { Dialect } from '../ports/database.ts';
import { jsonText, placeholders } from '../sql/long-columns.ts';
import { normalOf } from './normal-form.ts';
import {
  type DeviceReference,
  nameOfDevice,
  nameOfReference,
  nameWithoutKey,
  type ProductReference,
  numbering,
} from './references.ts';
import type { Tree } from './shape.ts';
import { inOrder, MEMBER, TOKEN } from './token-shape.ts';
import { must } from '../../must.ts';

const READ_AT_ONCE = 500;

/** An INDIVIDUAL token as it is. `name`: in its section, numbered where others share it. */
export interface TokenState {
  id: string;
  name: string;
  sharedName: string;
  expiresAt: number | null;
  tree: Tree;
}

/** A member as it is. */
export interface MemberState {
  userId: string;
  email: string;
  role: Role;
  name: string;
  sharedName: null;
  tree: Tree;
}

interface TokenRow {
  id: string;
  name: string;
  scopes: unknown;
  productIds: unknown;
  deviceIds: unknown;
  fields: unknown;
  expiresAt: number | string | null;
}

/** The INDIVIDUAL tokens of a workspace in the order of their creation; `references`: of products, by their ids. */
export async function readTokenStates(
  em: EntityManager,
  workspaceId: string,
  references: ReadonlyMap<string, ProductReference>,
): Promise<TokenState[]> {
  const rows = await em.execute<TokenRow[]>(
    'select id, name, scopes, product_ids as "productIds", device_ids as "deviceIds", fields, expires_at as "expiresAt" ' +
      'from token where workspace_id = ? order by created_at, id',
    [workspaceId],
  );
  const limits = rows.map(({ productIds, deviceIds }) => ({
    products: listIn(productIds),
    devices: listIn(deviceIds),
  }));
  const devices = await readDeviceReferences(
    em,
    references,
    limits.flatMap((limit) => limit.devices ?? []),
  );
  const nthOf = numbering();
  return rows.map(({ id, name, scopes, fields, expiresAt }, at) => {
    const end = expiresAt === null ? null : Number(expiresAt);
    const tree = normalOf(TOKEN, {
      name,
      scopes: TOKEN_SCOPES.filter((scope) => (JSON.parse(jsonText(scopes)) as TokenScope[]).includes(scope)),
      products: known(must(limits[at]).products, references, nameOfReference),
      devices: known(must(limits[at]).devices, devices, nameOfDevice),
      fields: listIn(fields)?.toSorted() ?? null,
      expiresAt: end === null ? null : new Date(end).toISOString(),
    });
    return { id, name: nameWithoutKey(name, nthOf(name)), sharedName: name, expiresAt: end, tree };
  });
}

/** The members of a workspace. */
export async function readMemberStates(em: EntityManager, workspaceId: string): Promise<MemberState[]> {
  const rows = await em.execute<Pick<MemberState, 'userId' | 'email' | 'role'>[]>(
    'select u.id as "userId", u.email, m.role from member m join user_account u on u.id = m.user_id ' +
      'where m.workspace_id = ?',
    [workspaceId],
  );
  return rows
    .map((row) => ({
      ...row,
      name: JSON.stringify(row.email),
      sharedName: null,
      tree: normalOf(MEMBER, { email: row.email, role: row.role }),
    }))
    .toSorted((one, other) => (one.email < other.email ? -1 : 1));
}

/** Runs `read` with all that it reads as of one moment. */
export async function inSnapshot<T>(em: EntityManager, dialect: Dialect, read: () => Promise<T>): Promise<T> {
  // On SQLite the transaction is one already.
  if (dialect === 'postgres') await em.execute('set transaction isolation level repeatable read', [], 'run');
  return read();
}

/** References to devices by their ids; those of other products than `references` has, and that are gone, are absent. */
export async function readDeviceReferences(
  em: EntityManager,
  references: ReadonlyMap<string, ProductReference>,
  ids: readonly string[],
): Promise<Map<string, DeviceReference>> {
  const devices = new Map<string, DeviceReference>();
  const unique = [...new Set(ids)];
  for (let at = 0; at < unique.length; at += READ_AT_ONCE) {
    const some = unique.slice(at, at + READ_AT_ONCE);
    const rows = await em.execute<{ id: string; serialNumber: string; productId: string }[]>(
      'select device.id, device.serial_number as "serialNumber", product.id as "productId" from device ' +
        `join product on product."key" = device.product_key where device.id in (${placeholders(some)})`,
      some,
    );
    for (const { id, serialNumber, productId } of rows) {
      const product = references.get(productId);
      if (product !== undefined) devices.set(id, { product, serialNumber });
    }
  }
  return devices;
}

/** The references of those that are still there; null: not limited. */
function known<T>(ids: string[] | null, references: ReadonlyMap<string, T>, nameOf: (one: T) => string): T[] | null {
  return (
    ids &&
    inOrder(
      ids.flatMap((id) => references.get(id) ?? []),
      nameOf,
    )
  );
}

function listIn(value: unknown): string[] | null {
  return value === null ? null : (JSON.parse(jsonText(value)) as string[]);
}
