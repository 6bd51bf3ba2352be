import type { EntityManager } from '@mikro-orm/sql';
import type { Access } from '../access/access.ts';
import { MAX_OF_WORKSPACE } from '../accounts/token-service.ts';
import { badInput } from '../../errors.ts';
import type { TokenScope } from '../entities/token.ts';
import { placeholders } from '../sql/long-columns.ts';
import { type Draft, staying } from './draft.ts';
import { paired } from './pairing.ts';
import type { Asked } from './read-document.ts';
import { type DeviceReference, nameOfDevice, nameOfReference, noDevice, type ProductReference } from './references.ts';
import { type Block, blocking, type Tree } from './shape.ts';
import type { TokenState } from './workspace-state.ts';
import { must } from '../../must.ts';

const READ_AT_ONCE = 500;

/** A token of a plan. */
export type TokenDraft = Draft<TokenState>;

/** The parts of a token's tree. */
interface TokenTree extends Tree {
  name: string;
  scopes: TokenScope[];
  products?: ProductReference[];
  devices?: DeviceReference[];
  fields?: string[];
  expiresAt?: string;
}

/** The tree of a token by its parts. */
export function tokenOf(tree: Tree): TokenTree {
  return tree as TokenTree;
}

/** Pairs as `paired`, those that have ended apart from the others: an export leaves them out. */
export function pairedTokens(
  asked: readonly Asked[],
  known: readonly TokenState[],
  now: number,
  blocks: Block[],
): Map<Asked, TokenState | null> {
  const isOver = (end: number | null): boolean => end !== null && end <= now;
  const [over, live] = [true, false].map((wanted) => {
    const some = asked.filter(({ tree }) => isOver(endOf(tokenOf(tree))) === wanted);
    return { asked: some, known: known.filter(({ expiresAt }) => isOver(expiresAt) === wanted) };
  }) as [{ asked: Asked[]; known: TokenState[] }, { asked: Asked[]; known: TokenState[] }];
  // Of those that are over, several may be left that no document knows.
  const named = over.asked.map((one): [Asked, TokenState | null] => [
    one,
    over.known.find(({ sharedName }) => sharedName === one.sharedName) ?? null,
  ]);
  return new Map([...paired(live.asked, live.known, blocks), ...named]);
}

function endOf({ expiresAt }: TokenTree): number | null {
  return expiresAt === undefined ? null : Date.parse(expiresAt);
}

/** Devices that tokens of the document are limited to. */
export function devicesOfTokens(tokens: readonly TokenDraft[]): DeviceReference[] {
  return staying(tokens).flatMap(({ target }) => tokenOf(target).devices ?? []);
}

/** Ids of devices by `nameOfDevice`; those that are not there are absent. */
export async function devicesNamed(
  em: EntityManager,
  references: readonly DeviceReference[],
  productIds: ReadonlyMap<string, string>,
): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  for (const [product, own] of Map.groupBy(references, (reference) => nameOfReference(reference.product))) {
    const productId = productIds.get(product);
    const serials = [...new Set(own.map(({ serialNumber }) => serialNumber))].filter((one) => !one.includes('\0'));
    if (productId === undefined) continue;
    for (let at = 0; at < serials.length; at += READ_AT_ONCE) {
      const some = serials.slice(at, at + READ_AT_ONCE);
      const rows = await em.execute<{ id: string; serialNumber: string }[]>(
        'select id, serial_number as "serialNumber" from device where product_key = ' +
          `(select "key" from product where id = ?) and serial_number in (${placeholders(some)})`,
        [productId, ...some],
      );
      for (const { id, serialNumber } of rows)
        ids.set(nameOfDevice({ product: must(own[0]).product, serialNumber }), id);
    }
  }
  return ids;
}

interface TokensAround {
  tokens: readonly TokenDraft[];
  /** Names of all products as they are once the document is applied. */
  known: ReadonlySet<string>;
  /** Names of all devices likewise, as far as tokens refer to them. */
  devices: ReadonlySet<string>;
  /** Number of INDIVIDUAL tokens that there are. */
  count: number;
}

/** Blocks what tokens cannot be limited to, and what the caller may not grant (as `TokenService`). */
export function checkTokens(
  { tokens, known, devices: there, count }: TokensAround,
  { workspaceId, access, now }: { workspaceId: string; access: Access; now: number },
  blocks: Block[],
): void {
  const added = tokens.filter(({ state }) => state === null).length;
  if (added > 0 && count + added > MAX_OF_WORKSPACE)
    blocks.push({ path: 'tokens', message: `A workspace has at most ${MAX_OF_WORKSPACE} tokens; revoke some first.` });
  for (const { path, is, target } of staying(tokens).filter(({ pending }) => pending.length > 0)) {
    const { scopes, products, devices, expiresAt } = tokenOf(target);
    const before = is && tokenOf(is);
    const end = endOf(tokenOf(target));
    blocking(blocks, path, () => {
      for (const scope of new Set([...scopes, ...(before?.scopes ?? [])])) access.requireWorkspace(workspaceId, scope);
      access.requireOutlasts(end);
    });
    blocking(blocks, path, () => {
      if (end !== null && end <= now && before?.expiresAt !== expiresAt)
        throw badInput(`${path}.expiresAt: must be in the future.`);
      if (products?.length === 0) throw badInput(`${path}.products: leave it out for no limit, or name at least one.`);
      if (devices?.length === 0) throw badInput(`${path}.devices: leave it out for no limit, or name at least one.`);
    });
  }
  // Also of those that stay as they are: what they are limited to may go with this very document.
  for (const { path, target } of staying(tokens)) {
    const { products, devices } = tokenOf(target);
    for (const [index, reference] of (products ?? []).entries())
      if (!known.has(nameOfReference(reference)))
        blocks.push({ path: `${path}.products[${index}]`, message: noProductOf(reference) });
    for (const [index, reference] of (devices ?? []).entries())
      if (!there.has(nameOfDevice(reference)))
        blocks.push({
          path: `${path}.devices[${index}]`,
          message: known.has(nameOfReference(reference.product)) ? noDevice(reference) : noProductOf(reference.product),
        });
  }
}

function noProductOf(reference: ProductReference): string {
  const named = typeof reference === 'string' ? `key "${reference}"` : `name "${reference.name}" and no key`;
  return `there is no product with the ${named}, in the workspace or in the document.`;
}
