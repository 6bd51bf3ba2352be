import type { EntityManager } from '@mikro-orm/sql';
import type { Endpoint } from '../entities/endpoint.ts';
import { requireSameInput, type SealedParts, sealParts } from '../keys/same-input.ts';
import type { CheckedEndpoint } from './endpoint-input.ts';

type Parts = CheckedEndpoint & { productIds: string[] | null };

/** The state that an input asks for, for `requireSameInput`; its workspace and key are no parts. */
export function partsOfEndpoint({ name, kind, url, addresses, events, productIds, tags, enabled }: Parts): SealedParts {
  return sealParts({
    name,
    kind,
    url,
    addresses,
    events,
    productIds: productIds && productIds.toSorted(),
    tags: tags.length === 0 ? null : tags,
    enabled: enabled ? null : false,
  });
}

/** CONFLICT unless the input describes the endpoint with its key, as it was made or as it is (`requireSameInput`). */
export async function requireSameEndpoint(em: EntityManager, endpoint: Endpoint, asked: Parts): Promise<void> {
  await em.populate(endpoint, ['createdFrom']);
  await requireSameInput({
    what: 'endpoint',
    id: endpoint.id,
    name: endpoint.name,
    key: endpoint.authorKey!,
    asked: partsOfEndpoint(asked),
    created: endpoint.createdFrom ?? null,
    present: () => Promise.resolve(partsOfEndpoint(endpoint as Parts)),
  });
}
