import { badInput } from '../../errors.ts';
import type { Access } from '../access/access.ts';
import { columnOf } from '../ingest-cache/device-rows.ts';
import type { IngestCache } from '../ingest-cache/ingest-cache.ts';
import { visibleProduct } from '../ingest-cache/visible-product.ts';
import { must } from '../../must.ts';
import type { Database } from '../ports/database.ts';
import { containsSql } from '../sql/contains.ts';
import { bareDigits, deviceIdentity } from '../text/device-identity.ts';
import { checkText, foldCase } from '../text/text.ts';
import { checkTags } from './device-input.ts';
import { LAST_HEARD } from './device-order.ts';
import type { Conditions, Scope } from './device-scan.ts';
import { searchedLinesSql } from './device-search-text.ts';
import { DEFAULT_OFFLINE_AFTER_SECONDS } from './offline-after.ts';
import type { ValueCondition } from './value-look.ts';

/** Maximum ids, or serial numbers, in a filter. */
const MAX_IDS = 1000;

const LAST_HEARD_IN_TIME = `exists (
  select 1 from device_state s where s.device_key = d."key" and s.last_heard_at > 0
    and s.last_heard_at >= ? - coalesce(d.offline_after_seconds, p.offline_after_seconds, ${DEFAULT_OFFLINE_AFTER_SECONDS}) * 1000.0)`;

/**
 * A filter: all given conditions must hold. `exceptWorkspaceId`: devices of all others; `search`: part of name, serial number, location, tags or metadata, in any case
 * (of an EUI: in any notation); `tags`: every one of them, `anyTags`: at least one; `online`: heard of within `offlineAfterSeconds`;
 * `lastHeardBefore` / `lastHeardAfter`: receipt time in milliseconds, exclusive / inclusive; `values`: comparisons of
 * newest values.
 */
export interface DeviceFilter {
  workspaceId?: string | null | undefined;
  exceptWorkspaceId?: string | null | undefined;
  productId?: string | null | undefined;
  ids?: readonly string[] | null | undefined;
  serialNumbers?: readonly string[] | null | undefined;
  search?: string | null | undefined;
  tags?: readonly string[] | null | undefined;
  anyTags?: readonly string[] | null | undefined;
  online?: boolean | null | undefined;
  lastHeardBefore?: number | null | undefined;
  lastHeardAfter?: number | null | undefined;
  values?: readonly ValueCondition[] | null | undefined;
  lowBattery?: boolean | null | undefined;
}

/** The dependencies of `filterConditions`; `now` in milliseconds. */
interface FilterDeps {
  database: Pick<Database, 'dialect'>;
  ingestCache: IngestCache;
  now: () => number;
}

/** The conditions of a filter within the token's rights. */
export interface FilterConditions extends Conditions {
  /** The devices that may match. */
  scope: Scope;
  /** True when every device of a scope of one part matches: an index has them in the order of their keys. */
  areAll: boolean;
  /** Number of texts searched in each device. */
  searches: number;
}

/** The conditions of a filter; FORBIDDEN, NOT_FOUND or BAD_USER_INPUT for an invalid one. */
export async function filterConditions(
  { database, ingestCache, now }: FilterDeps,
  access: Access,
  filter: DeviceFilter,
): Promise<FilterConditions> {
  const sql: string[] = [];
  const values: unknown[] = [];
  const add = (condition: string, ...given: unknown[]): void => {
    sql.push(condition);
    values.push(...given);
  };
  const workspaces = access.workspacesToRead(filter.workspaceId, filter.exceptWorkspaceId);
  const ofWorkspaces: Conditions = { sql: [isOneOf('d.workspace_id', workspaces)], values: workspaces };
  const isNarrowed = filter.productId != null || filter.ids != null;
  if (isNarrowed) add(must(ofWorkspaces.sql[0]), ...workspaces);
  const having = (column: string, value: string | number): Conditions => ({
    sql: [`d.${column} = ?`],
    values: [value],
  });
  let scope: Scope = isNarrowed
    ? { whole: { sql: [], values: [] }, parts: null }
    : { whole: ofWorkspaces, parts: workspaces.map((id) => having('workspace_id', id)) };
  if (filter.productId != null) {
    const product = await visibleProduct(ingestCache, access, filter.productId, 'READ');
    add('d.product_key = ?', product.key);
    scope = { ...scope, parts: [having('product_key', product.key)] };
  }
  const ofScope = sql.length;
  if (access.limited) {
    const productIds = [...(access.productIds ?? [])];
    const deviceIds = [...(access.deviceIds ?? [])];
    add(`(${isOneOf('d.id', deviceIds)} or ${isOneOf('p.id', productIds)})`, ...deviceIds, ...productIds);
  }
  const searches = (filter.tags ?? []).length + (filter.anyTags ?? []).length;
  if (filter.ids != null) {
    const ids = checkIds(filter.ids);
    add(isOneOf('d.id', ids), ...ids);
    scope = { ...scope, parts: searches > 1 ? [{ sql: [isOneOf('d.id', ids)], values: ids }] : null };
  }
  if (filter.serialNumbers != null) {
    const [names, identities] = checkSerials(filter.serialNumbers);
    add(`(${isOneOf('d.serial_number', names)} or ${isOneOf('d.serial_folded', identities)})`, ...names, ...identities);
  }
  if (filter.search != null && filter.search !== '') {
    const text = foldCase(checkText(filter.search, 'search', { max: 200 }));
    const found = containsSql(database.dialect, searchedLinesSql(database.dialect, access.fields !== null));
    const digits = bareDigits(text);
    // Search digits of an EUI in this column too, which has them without separators.
    if (digits === null) add(found, text);
    else add(`(${found} or ${containsSql(database.dialect, 'd.serial_folded')})`, text, digits);
  }
  const hasTag = containsSql(database.dialect, 'd.tags');
  for (const tag of checkTags(filter.tags ?? [], 'tags')) add(hasTag, `\n${tag}\n`);
  if (filter.anyTags != null) {
    const any = checkTags(filter.anyTags, 'anyTags');
    if (any.length === 0) throw badInput('anyTags: name at least one tag, or leave it out.');
    add(`(${any.map(() => hasTag).join(' or ')})`, ...any.map((tag) => `\n${tag}\n`));
  }
  if (filter.online != null) add(`${filter.online ? '' : 'not '}${LAST_HEARD_IN_TIME}`, now());
  if (filter.lastHeardBefore != null) add(`${LAST_HEARD} < ?`, filter.lastHeardBefore);
  if (filter.lastHeardAfter != null) add(`${LAST_HEARD} >= ?`, filter.lastHeardAfter);
  return { sql, values, scope, areAll: sql.length === ofScope && scope.parts?.length === 1, searches };
}

function isOneOf(column: string, values: readonly unknown[]): string {
  return values.length === 0 ? '1 = 0' : `${column} in (${values.map(() => '?').join(', ')})`;
}

/** The serial numbers as they are, and the identities of EUIs and core ids among them. */
function checkSerials(serials: readonly string[]): [names: string[], identities: string[]] {
  if (serials.length > MAX_IDS) throw badInput(`serialNumbers: at most ${MAX_IDS}, not ${serials.length}.`);
  const identities = serials.filter((serial) => !serial.includes('\0')).map(deviceIdentity);
  const isFolded = (identity: string): boolean => columnOf(identity) === 'serial_folded';
  return [identities.filter((identity) => !isFolded(identity)), identities.filter(isFolded)];
}

function checkIds(ids: readonly string[]): string[] {
  if (ids.length > MAX_IDS) throw badInput(`ids: at most ${MAX_IDS}, not ${ids.length}.`);
  return ids.filter((id) => !id.includes('\0')).map((id) => id.toLowerCase());
}
