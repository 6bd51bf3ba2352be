import type { EntityManager } from '@mikro-orm/sql';
import type { News } from './telling.ts';

/** An alert, or several of a product, on the way to endpoints. */
export interface OutgoingAlert {
  /** Same event, same key: written a second time it is nothing. */
  key: string;
  type: News['type'];
  workspaceId: string;
  productId: string;
  /** null: of several devices. */
  deviceId: string | null;
  /** Tags of the device. */
  tags: readonly string[];
  /** Ids of the endpoints that the rule names; null: every one that wants the type. */
  endpointIds: readonly string[] | null;
  at: Date;
  data: Record<string, unknown>;
}

/** The place where alerts go that endpoints are to be told of. */
export interface AlertOutbox {
  /** Within the caller's transaction. */
  write(em: EntityManager, events: readonly OutgoingAlert[]): Promise<void>;
  /** Call after the commit. */
  wake(): void;
}
