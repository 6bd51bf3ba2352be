import type { Access } from '../../domain/access/access.ts';
import type { AlertRow } from '../../domain/alerts/alert-changes.ts';
import type { AlertFilter, AlertService } from '../../domain/alerts/alert-service.ts';
import type { AlertObject } from '../types/alert.ts';
import type { Connection } from '../types/connection.ts';
import { connectionWith, type Paging, readAfter, readFirst } from './page.ts';

const ALERTS: Paging<AlertRow> = { kind: 'alert', shape: ['string'], keyOf: (alert) => [alert.id] };

/** A page of the alerts that the token sees, newest first. */
export async function pageOfAlerts(
  alerts: AlertService,
  access: Access,
  filter: AlertFilter,
  { first, after }: { first?: number | null | undefined; after?: string | null | undefined },
): Promise<Connection<AlertObject>> {
  const limit = readFirst(first);
  const page = await alerts.list(access, filter, { limit, after: readAfter(ALERTS, after)?.[0] as string | undefined });
  return connectionWith(
    ALERTS,
    page,
    (alert) => alert,
    () => alerts.count(access, filter),
  );
}
