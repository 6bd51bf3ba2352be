import type { DataOf } from '../../api/operation.ts';
import { request } from '../../api/request.ts';
import { type DeviceFilter, filterArguments } from './device-filter.ts';
import { DevicesThatFit } from './devices.graphql.ts';

const PAGE = 500;
/** As many as the API deletes at once. */
const MAX_CHOSEN = 10_000;

/** A device that something is done to. */
export interface ChosenDevice {
  id: string;
  name: string;
  tags: readonly string[];
}

/** Every device that the filter lets through, page by page; `tell` hears how many there are so far. At most 10,000. */
export async function devicesThatFit(
  workspaceId: string | null,
  filter: DeviceFilter,
  { tell, signal }: { tell: (count: number) => void; signal: AbortSignal },
): Promise<ChosenDevice[]> {
  const found: ChosenDevice[] = [];
  // In the order of creation: whatever is changed meanwhile, none is passed over.
  const wanted = { workspaceId, ...filterArguments(filter), orderBy: 'CREATED' as const, first: PAGE };
  let after: string | null = null;
  do {
    const { devices }: DataOf<typeof DevicesThatFit> = await request(DevicesThatFit, { ...wanted, after }, signal);
    found.push(...devices.edges.map(({ node }) => node));
    tell(found.length);
    after = devices.pageInfo.hasNextPage ? devices.pageInfo.endCursor : null;
    if (found.length > MAX_CHOSEN || (after !== null && found.length === MAX_CHOSEN))
      throw new Error(
        `More than ${MAX_CHOSEN.toLocaleString()} devices fit. Narrow the filter, and do it part by part.`,
      );
  } while (after !== null);
  return found;
}
