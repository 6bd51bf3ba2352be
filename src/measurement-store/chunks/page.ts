/** Rows in order, of the asked number, or fewer where they are large. */
export interface Page<Row> {
  /** Empty only where `isLast`, or where a caller that asked for little is to ask page by page. */
  rows: Row[];
  /** Nothing follows. */
  isLast: boolean;
}

/** Estimated maximum bytes per page: a single moment of a device may be a megabyte. */
export const PAGE_BYTES = 4_000_000;
/** Maximum bytes of a row whose page may have all values. */
export const LARGE_BYTES = 1_024;

/** Number of rows of these sizes that go into one page: the first one always. */
export function fitting(sizes: readonly number[], most = PAGE_BYTES): number {
  let bytes = 0;
  const end = sizes.findIndex((size, i) => (bytes += size) > most && i > 0);
  return end < 0 ? sizes.length : end;
}

/** Maximum committed readings per page of one device: more than elsewhere, as each page goes over all of them. */
export const COMMITTED_A_PAGE = 20_000;
/** The same of all devices, before a search may give way: it comes to its end while less comes between its slices. */
export const COMMITTED_A_PART = 2 * COMMITTED_A_PAGE;
