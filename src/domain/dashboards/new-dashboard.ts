import type { EntityManager } from '@mikro-orm/sql';
import { type Dashboard, DashboardSchema } from '../entities/dashboard.ts';
import { uuidV7 } from '../text/uuid.ts';

interface NewDashboard {
  workspace: Dashboard['workspace'];
  name: string;
  authorKey: string | null;
  createdFrom: Dashboard['createdFrom'];
  /** JSON text. */
  widgets: string;
  now: number;
}

/** The row of a new dashboard, stored with the transaction. */
export function newDashboard(em: EntityManager, { now, ...given }: NewDashboard): Dashboard {
  return em.create(DashboardSchema, { ...given, id: uuidV7(now), createdAt: now } as never);
}
