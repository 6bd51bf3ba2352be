import { createStore, useStore } from '../api/store.ts';

/** An address: the path below `/console`, such as `/devices`, and the query. */
interface Place {
  path: string;
  query: URLSearchParams;
}

const BASE = '/console';

function read(): Place {
  const path = location.pathname.slice(BASE.length).replace(/\/+$/, '');
  return { path: path === '' ? '/' : path, query: new URLSearchParams(location.search) };
}

const place = createStore<Place>(read());
addEventListener('popstate', () => place.set(read()));

/** The present address. */
export function here(): Place {
  return place.get();
}

/** The present address; draws again when it changes. */
export function usePlace(): Place {
  return useStore(place);
}

/** The address of a path of the console, such as `/devices`, for a link. */
export function href(path: string, query: Record<string, string> = {}): string {
  const text = new URLSearchParams(query).toString();
  return `${BASE}${path}${text === '' ? '' : `?${text}`}`;
}

/** Goes to an address of `href`; `replace` keeps the present one out of the history. */
export function navigate(to: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, '', to);
  else history.pushState(null, '', to);
  place.set(read());
  if (!replace) scrollTo(0, 0);
}

/**
 * One parameter of the address with its setter: null or the empty text removes it. Setting it adds no step to the
 * history unless `push` is given, and survives a reload.
 */
export function useParameter(
  name: string,
): [value: string | null, set: (value: string | null, options?: { push?: boolean }) => void] {
  const { query } = usePlace();
  return [query.get(name), (value, { push = false } = {}) => setParameters({ [name]: value }, { push })];
}

/** Changes several parameters of the address at once; null or the empty text removes one. */
export function setParameters(values: Record<string, string | null>, { push = false } = {}): void {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(values))
    if (value === null || value === '') query.delete(name);
    else query.set(name, value);
  const text = query.toString();
  const to = `${location.pathname}${text === '' ? '' : `?${text}`}`;
  if (push) history.pushState(null, '', to);
  else history.replaceState(null, '', to);
  place.set(read());
}

/** Follows links of the console without loading the page; leaves clicks that open a tab (middle click, Ctrl) alone. */
export function followLinks(): void {
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    const link = (event.target as Element).closest('a');
    if (link === null || link.target !== '' || link.hasAttribute('download')) return;
    const url = new URL(link.href, location.href);
    if (url.origin !== location.origin || !`${url.pathname}/`.startsWith(`${BASE}/`)) return;
    // Let the browser scroll to links within this page.
    if (url.hash !== '' && url.pathname + url.search === location.pathname + location.search) return;
    event.preventDefault();
    navigate(url.pathname + url.search + url.hash);
  });
}
