/** The name and value of each header, the name in Title-Case, each name once. */
export type HeaderList = [name: string, value: string][];

const MAX_KNOWN = 1_000;
const titles = new Map<string, string>();

/** `content-type` → `Content-Type`. */
export function titleCase(name: string): string {
  const known = titles.get(name);
  if (known !== undefined) return known;
  const title = name
    .split('-')
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1).toLowerCase())
    .join('-');
  // Bound the cache: senders choose the names.
  if (titles.size < MAX_KNOWN && name.length < 100) titles.set(name, title);
  return title;
}

/** Headers for which a repetition is a mistake, not a list: the first counts, as in Node. */
const SINGLE = new Set([
  'Age', 'Authorization', 'Content-Length', 'Content-Type', 'Etag', 'Expires', 'From', 'Host', 'If-Modified-Since',
  'If-Unmodified-Since', 'Last-Modified', 'Location', 'Max-Forwards', 'Proxy-Authorization', 'Referer', 'Retry-After',
  'Server', 'User-Agent',
]); // oxfmt-ignore

/** The headers from Node's list of names and values in turn; repeated ones are joined (RFC 9110, 5.2 and 5.3). */
export function headerList(rawHeaders: readonly string[]): HeaderList {
  const list: HeaderList = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = titleCase(rawHeaders[at] as string);
    const value = rawHeaders[at + 1] as string;
    const known = list.find((header) => header[0] === name);
    if (known === undefined) list.push([name, value]);
    else if (!SINGLE.has(name)) known[1] += (name === 'Cookie' ? '; ' : ', ') + value;
  }
  return list;
}

/** The value of a header by its Title-Case name. */
export function headerOf(headers: HeaderList, name: string): string | undefined {
  return headers.find((header) => header[0] === name)?.[1];
}
