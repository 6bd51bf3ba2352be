import type { EntityManager } from '@mikro-orm/sql';
import { type Endpoint, type EndpointKind, EndpointSchema } from '../entities/endpoint.ts';
import { uuidV7 } from '../text/uuid.ts';
import type { CheckedEndpoint } from './endpoint-input.ts';
import { newWebhookSecret } from './signature.ts';

/** A secret for an endpoint of the kind; null: it needs none. */
export function secretFor(kind: EndpointKind): string | null {
  return kind === 'WEBHOOK' ? newWebhookSecret() : null;
}

interface NewEndpoint extends CheckedEndpoint {
  workspace: Endpoint['workspace'];
  productIds: string[] | null;
  authorKey: string | null;
  createdFrom: Endpoint['createdFrom'];
  secret: string | null;
  now: number;
}

/** The row of a new endpoint, stored with the transaction. */
export function newEndpoint(em: EntityManager, { now, ...given }: NewEndpoint): Endpoint {
  return em.create(EndpointSchema, {
    ...given,
    id: uuidV7(now),
    disabledReason: null,
    failingSince: null,
    isFull: false,
    previousSecret: null,
    previousUntil: null,
    createdAt: now,
  } as never);
}

/** Writes the properties into the row; switched on, it begins without a past. */
export function setEndpoint(row: Endpoint, checked: CheckedEndpoint): void {
  if (checked.enabled && !row.enabled) row.failingSince = null;
  Object.assign(row, checked);
  if (checked.enabled) row.disabledReason = null;
}

/** Removes the endpoint with the transaction; its deliveries are swept. */
export async function removeEndpoint(em: EntityManager, row: Endpoint): Promise<void> {
  em.remove(row);
  await em.execute('delete from outgoing_reader where name = ?', [`measurements ${row.key}`], 'run');
}
