/** Rows in order, as many as were asked for, or fewer of them where they are large. */
export interface Page<Row> {
  /** Empty only where `isLast`, or where whoever asked for little is to ask page by page. */
  rows: Row[];
  /** Nothing follows. */
  isLast: boolean;
}

/** What a device sends at a moment may be a megabyte, and a page has thousands: about so much of it is read at once. */
export const PAGE_BYTES = 4_000_000;
/** Up to this it does no harm to have all values of a page. */
export const LARGE_BYTES = 1_024;

/** How many rows of these sizes go into one page: the first one always. */
export function fitting(sizes: readonly number[], most = PAGE_BYTES): number {
  let bytes = 0;
  const end = sizes.findIndex((size, i) => (bytes += size) > most && i > 0);
  return end < 0 ? sizes.length : end;
}

/** Of what was committed since, so much of one device: more than pages elsewhere, as each goes over all of it. */
export const COMMITTED_A_PAGE = 20_000;
/** Of any device, before a search may give way: while less comes between its slices, it comes to its end. */
export const COMMITTED_A_PART = 2 * COMMITTED_A_PAGE;
