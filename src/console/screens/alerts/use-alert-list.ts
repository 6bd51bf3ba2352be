import { useEffect, useMemo, useState } from 'preact/hooks';
import { AlertChanged, AlertPage, type AlertParts } from '../../alerts/alerts.graphql.ts';
import { request } from '../../api/request.ts';
import { useAction } from '../../api/use-action.ts';
import { useLive } from '../../api/use-live.ts';
import { useLiveItems } from '../../api/use-live-items.ts';
import { useQuery } from '../../api/use-query.ts';
import { type AlertFilter, passes } from './alert-filter.ts';

const A_PAGE = 50;

interface AlertList {
  /** Newest first. */
  alerts: readonly AlertParts[];
  /** Those that the list can be narrowed to. */
  products: readonly { id: string; name: string }[];
  isBusy: boolean;
  error: string | null;
  /** Fetches older ones; null: there are none. */
  older: (() => void) | null;
  /** Shows an alert as a mutation has answered it. */
  put: (alert: AlertParts) => void;
}

/**
 * The alerts that the filter lets through, live. One that changes stays where it is, whatever it becomes, so that
 * nothing goes from under a finger; new ones come on top.
 */
export function useAlertList(workspaceId: string | null, filter: AlertFilter): AlertList {
  const { states, severities, productId, deviceId, from, to } = filter;
  const variables = {
    workspaceId,
    productId,
    deviceId,
    state: states.length === 0 ? null : states,
    severity: severities.length === 0 ? null : severities,
    from: from === null ? null : new Date(from).toISOString(),
    to: to === null ? null : new Date(to).toISOString(),
    first: A_PAGE,
    withProducts: true,
  };
  const { data, error, loading, fresh, refetch } = useQuery(AlertPage, workspaceId === null ? null : variables);
  const [further, setFurther] = useState<readonly Page[]>([]);
  useEffect(() => setFurther([]), [data]);
  const { changed, put } = useLiveItems<AlertParts>(data, loading);
  useLive(AlertChanged, workspaceId === null ? null : { workspaceId }, {
    cursorOf: ({ alertChanged }) => alertChanged.cursor,
    missed: () => void refetch(),
    next: ({ alertChanged: { alert } }) => put(alert),
  });
  const pages = data === null ? [] : [data.alerts, ...further];
  const last = pages.at(-1)?.pageInfo;
  const going = useAction(async (after: string | null) => {
    const { alerts } = await request(AlertPage, { ...variables, withProducts: false, after });
    setFurther((before) => [...before, alerts]);
  });
  const alerts = useMemo(() => {
    const listed = pages.flatMap(({ edges }) => edges.map(({ node }) => node));
    const known = new Set(listed.map(({ id }) => id));
    const added = [...changed.values()].filter((alert) => !known.has(alert.id) && passes(filter, alert));
    return [...added.toReversed(), ...listed.map((alert) => changed.get(alert.id) ?? alert)];
  }, [data, further, changed]);
  return {
    alerts,
    products: data?.products?.edges.map(({ node }) => node) ?? [],
    isBusy: loading || !fresh || going.busy,
    error: error?.message ?? going.error,
    older: last?.hasNextPage === true ? () => void going.run(last.endCursor) : null,
    put,
  };
}

type Page = NonNullable<(typeof AlertPage)['data']>['alerts'];
