import { useEffect, useMemo, useState } from 'preact/hooks';
import type { DeliveryStatus } from '../../api/schema-types.ts';
import { request } from '../../api/request.ts';
import { useAction } from '../../api/use-action.ts';
import { useLive } from '../../api/use-live.ts';
import { useLiveItems } from '../../api/use-live-items.ts';
import { useQuery } from '../../api/use-query.ts';
import { DeliveryChanged, type DeliveryParts, EndpointPage, type EndpointParts } from './endpoints.graphql.ts';

const A_PAGE = 20;

interface Shown {
  /** null: not known yet, or there is none in the workspace. */
  endpoint: EndpointParts | null;
  /** Newest first. */
  deliveries: readonly DeliveryParts[];
  isBusy: boolean;
  error: string | null;
  /** Fetches older ones; null: there are none. */
  older: (() => void) | null;
  /** Shows a delivery as it has become. */
  put: (delivery: DeliveryParts) => void;
  refetch: () => Promise<void>;
}

/** An endpoint and its deliveries of some states (none: of all), live. */
export function useDeliveries(
  workspaceId: string | null,
  id: string,
  states: readonly DeliveryStatus[],
  mayChange: boolean,
): Shown {
  const status = states.length === 0 ? null : states;
  const variables = { workspaceId: workspaceId ?? '', ids: [id], mayChange, status, first: A_PAGE };
  const { data, error, loading, fresh, refetch } = useQuery(EndpointPage, workspaceId === null ? null : variables);
  const [further, setFurther] = useState<readonly Page[]>([]);
  useEffect(() => setFurther([]), [data]);
  const { changed, put } = useLiveItems<DeliveryParts>(data, loading);
  const endpoint = data?.workspace.endpoints[0] ?? null;
  useLive(DeliveryChanged, endpoint === null ? null : { endpointId: id }, {
    missed: () => void refetch(),
    next: ({ deliveryChanged }) => {
      put(deliveryChanged);
      // It may have failed for the first time, been answered again, or been switched off.
      const isBad = deliveryChanged.status !== 'DELIVERED';
      if (isBad !== (endpoint?.failingSince != null)) void refetch();
    },
  });
  const pages = endpoint === null ? [] : [endpoint.deliveries, ...further];
  const last = pages.at(-1)?.pageInfo;
  const going = useAction(async (after: string | null) => {
    const { workspace } = await request(EndpointPage, { ...variables, after });
    const page = workspace.endpoints[0]?.deliveries;
    if (page !== undefined) setFurther((before) => [...before, page]);
  });
  const deliveries = useMemo(() => {
    const listed = pages.flatMap(({ edges }) => edges.map(({ node }) => node));
    const known = new Set(listed.map(({ id: one }) => one));
    const added = [...changed.values()].filter(
      (one) => !known.has(one.id) && (states.length === 0 || states.includes(one.status)),
    );
    return [...added.toReversed(), ...listed.map((one) => changed.get(one.id) ?? one)];
  }, [data, further, changed]);
  return {
    endpoint,
    deliveries,
    isBusy: loading || !fresh || going.busy,
    error: error?.message ?? going.error,
    older: last?.hasNextPage === true ? () => void going.run(last.endCursor) : null,
    put,
    refetch,
  };
}

type Page = NonNullable<(typeof EndpointPage)['data']>['workspace']['endpoints'][number]['deliveries'];
