import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { ApiError } from '../../api/api-error.ts';
import type { DataOf } from '../../api/operation.ts';
import { request } from '../../api/request.ts';
import { useQuery } from '../../api/use-query.ts';
import { type DeviceFilter, filterArguments } from './device-filter.ts';
import { DevicePage, type DeviceRow } from './devices.graphql.ts';

const PAGE = 100;

type Page = DataOf<typeof DevicePage>['devices'];

/** The devices fetched so far, in order. */
interface DeviceList {
  rows: DeviceRow[];
  /** Number of devices on all pages; null while unknown. */
  total: number | null;
  hasMore: boolean;
  loading: boolean;
  /** False while the rows belong to the previous filter. */
  fresh: boolean;
  error: string | null;
  /** Fetches the next page, unless that is in progress. */
  more: () => void;
  refetch: () => void;
}

/** The variables for the first page of devices. */
function firstPage(workspaceId: string | null, filter: DeviceFilter) {
  return { workspaceId, ...filterArguments(filter), first: PAGE, count: true };
}

/** The devices of a workspace that match a filter, page by page. */
export function useDeviceList(workspaceId: string | null, filter: DeviceFilter): DeviceList {
  const wanted = firstPage(workspaceId, filter);
  const key = JSON.stringify(wanted);
  const first = useQuery(DevicePage, wanted);
  const [further, setFurther] = useState<{ after: Page | null; pages: Page[]; error: string | null }>(NONE);
  const asking = useRef<string | null>(null);
  const start = first.data?.devices ?? null;
  // Drop the pages that followed another first page.
  const pages = further.after === start ? further.pages : [];
  const last = pages.at(-1) ?? start;
  const more = useCallback(() => {
    const after = last?.pageInfo.endCursor;
    if (!first.fresh || last?.pageInfo.hasNextPage !== true || after == null || asking.current === after) return;
    asking.current = after;
    request(DevicePage, { ...wanted, after, count: false }).then(
      ({ devices }) => setFurther({ after: start, pages: [...pages, devices], error: null }),
      (error: unknown) => {
        asking.current = null;
        setFurther({ after: start, pages, error: error instanceof ApiError ? error.message : String(error) });
      },
    );
  }, [key, last, first.fresh]);
  useEffect(() => void (asking.current = null), [start]);
  const rows = useMemo(
    () => [start, ...pages].flatMap((page) => page?.edges.map(({ node }) => node) ?? []),
    [start, pages.length],
  );
  return {
    rows,
    total: start?.totalCount ?? null,
    hasMore: last?.pageInfo.hasNextPage ?? false,
    loading: first.loading,
    fresh: first.fresh,
    error: first.error?.message ?? (further.after === start ? further.error : null),
    more,
    refetch: () => void first.refetch(),
  };
}

const NONE = { after: null, pages: [], error: null };
