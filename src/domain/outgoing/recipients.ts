import type { EntityManager } from '@mikro-orm/sql';
import type { EndpointKind } from '../entities/endpoint.ts';
import type { EventType } from './event-types.ts';
import { placeholders } from '../sql/long-columns.ts';

/** An endpoint that is on, as events need it. */
export interface Recipient {
  key: number;
  id: string;
  workspaceId: string;
  kind: EndpointKind;
  events: readonly string[];
  /** null: all. */
  productIds: readonly string[] | null;
  /** A device must have all of them. */
  tags: readonly string[];
  isFull: boolean;
}

interface RecipientRow extends Pick<Recipient, 'key' | 'id' | 'workspaceId' | 'kind'> {
  events: string | string[];
  productIds: string | string[] | null;
  tags: string;
  isFull: number | boolean;
}

const COLUMNS = `"key", id, workspace_id as "workspaceId", kind, events, product_ids as "productIds", tags, is_full as "isFull"`;

/** The endpoints of the workspaces that are on; in one statement and without entities, as it is within other transactions. */
export async function readRecipients(em: EntityManager, workspaceIds: readonly string[]): Promise<Recipient[]> {
  const rows = await em.execute<RecipientRow[]>(
    `select ${COLUMNS} from endpoint where workspace_id in (${placeholders(workspaceIds)}) and enabled`,
    [...workspaceIds],
  );
  return rows.map(recipientOf);
}

/** All endpoints that are on and want an event, of any workspace. */
export async function readRecipientsOf(em: EntityManager, ...types: readonly EventType[]): Promise<Recipient[]> {
  const rows = await em.execute<RecipientRow[]>(`select ${COLUMNS} from endpoint where enabled order by "key"`);
  return rows.map(recipientOf).filter(({ events }) => types.some((type) => events.includes(type)));
}

function recipientOf({ events, productIds, tags, isFull, ...row }: RecipientRow): Recipient {
  return {
    ...row,
    events: listOf(events) ?? [],
    productIds: listOf(productIds),
    tags: tags.split('\n').filter((tag) => tag !== ''),
    isFull: Boolean(isFull),
  };
}

/** SQLite keeps JSON as text. */
function listOf(value: string | string[] | null): string[] | null {
  return typeof value === 'string' ? (JSON.parse(value) as string[] | null) : value;
}
