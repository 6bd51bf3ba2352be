import { badInput } from '../../errors.ts';
import { ENDPOINT_KINDS, type EndpointKind } from '../entities/endpoint.ts';
import { checkAuthorKey } from '../keys/author-key.ts';
import {
  checkEndpoint,
  MAX_ENDPOINT_NAME,
  MAX_ENDPOINT_PRODUCTS,
  type EndpointWish,
} from '../outgoing/endpoint-input.ts';
import { inOrder, readProductReference } from './references.ts';
import { type GroupShape, shown, type Tree } from './shape.ts';
import { anyText, flag, oneOf, text } from './values.ts';

/** An endpoint of a document; its secret is never there. */
export const ENDPOINT: GroupShape = {
  kind: 'group',
  properties: {
    key: {
      kind: 'value',
      read: (given, path) => checkAuthorKey(anyText(given, path), path),
      otherwise: null,
    },
    name: { kind: 'value', read: text({ max: MAX_ENDPOINT_NAME }), otherwise: null, isRequired: true },
    kind: { kind: 'value', read: oneOf(ENDPOINT_KINDS), otherwise: null, isRequired: true },
    url: { kind: 'value', read: anyText, otherwise: null },
    addresses: { kind: 'value', read: listOf(anyText), otherwise: null },
    events: { kind: 'value', read: listOf(anyText), otherwise: [] },
    products: { kind: 'value', read: readProducts, otherwise: null },
    tags: { kind: 'value', read: listOf(anyText), otherwise: [] },
    enabled: { kind: 'value', read: flag, otherwise: true },
  },
  check: (tree, path) => void checkEndpoint(wishOf(tree), `${path}.`, true),
  // In the form in which they are stored.
  settle: (target) => normalEndpoint(target),
};

/** What a tree asks of an endpoint. */
export function wishOf(tree: Tree): EndpointWish {
  const { name, kind, url, addresses, events, tags, enabled } = tree as Partial<EndpointWish>;
  return {
    name: name ?? '',
    kind: (kind ?? 'WEBHOOK') as EndpointKind,
    url: url ?? null,
    addresses: addresses ?? null,
    events: events ?? [],
    tags: tags ?? [],
    enabled: enabled ?? true,
  };
}

/** The tree as the server keeps it: URL and addresses in their one form, events in the order of the contract. */
function normalEndpoint(tree: Tree): Tree {
  try {
    const { url, addresses, events } = checkEndpoint(wishOf(tree), '', true);
    return {
      ...tree,
      ...(url === null ? {} : { url }),
      ...(addresses === null ? {} : { addresses }),
      ...(events.length === 0 ? {} : { events }),
    };
  } catch {
    // It is blocked already.
    return tree;
  }
}

function listOf<T>(read: (given: unknown, path: string) => T) {
  return (given: unknown, path: string): T[] => {
    if (!Array.isArray(given)) throw badInput(`${path}: expected a list, got ${shown(given)}.`);
    return given.map((item, index) => read(item, `${path}[${index}]`));
  };
}

function readProducts(given: unknown, path: string) {
  const references = listOf(readProductReference)(given, path);
  if (references.length > MAX_ENDPOINT_PRODUCTS) throw badInput(`${path}: at most ${MAX_ENDPOINT_PRODUCTS} products.`);
  return inOrder(references);
}
