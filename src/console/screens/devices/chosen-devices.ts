import type { DataOf } from '../../api/operation.ts';
import { request } from '../../api/request.ts';
import { conditionArguments, type DeviceFilter } from './device-filter.ts';
import { DevicesThatFit } from './devices.graphql.ts';
import { counted } from '../../texts/texts.ts';

const PAGE = 500;
/** Maximum devices that the API deletes at once. */
const MAX_CHOSEN = 10_000;

/** A device of a bulk action. */
export interface ChosenDevice {
  id: string;
  name: string;
  tags: readonly string[];
}

/** Every device that matches the filter, page by page; `tell` gets the number so far. Maximum 10,000. */
export async function devicesThatFit(
  workspaceId: string | null,
  filter: DeviceFilter,
  { tell, signal }: { tell: (count: number) => void; signal: AbortSignal },
): Promise<ChosenDevice[]> {
  const found: ChosenDevice[] = [];
  // Use the order of creation, so that changes meanwhile skip no device.
  const wanted = { workspaceId, ...conditionArguments(filter), orderBy: 'CREATED' as const, first: PAGE };
  let after: string | null = null;
  do {
    const { devices }: DataOf<typeof DevicesThatFit> = await request(DevicesThatFit, { ...wanted, after }, signal);
    found.push(...devices.edges.map(({ node }) => node));
    tell(found.length);
    after = devices.pageInfo.hasNextPage ? devices.pageInfo.endCursor : null;
    if (found.length > MAX_CHOSEN || (after !== null && found.length === MAX_CHOSEN))
      throw new Error(
        counted(
          MAX_CHOSEN,
          'More than {count} device fits. Narrow the filter, and do it part by part.',
          'More than {count} devices fit. Narrow the filter, and do it part by part.',
        ),
      );
  } while (after !== null);
  return found;
}
