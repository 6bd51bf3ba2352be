import { createStore, useStore } from '../api/store.ts';

/** Where one is: the path below `/console`, such as `/devices`, and the query. */
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

/** Where one is now. */
export function here(): Place {
  return place.get();
}

/** Where one is; drawn anew when that changes. */
export function usePlace(): Place {
  return useStore(place);
}

/** The address of a path of the console, such as `/devices`, for a link. */
export function href(path: string, query: Record<string, string> = {}): string {
  const text = new URLSearchParams(query).toString();
  return `${BASE}${path}${text === '' ? '' : `?${text}`}`;
}

/** Goes to an address that `href` made; `replace` leaves none of the present one in the history. */
export function navigate(to: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, '', to);
  else history.pushState(null, '', to);
  place.set(read());
  if (!replace) scrollTo(0, 0);
}

/**
 * One parameter of the address and how to change it: null or the empty text takes it out. What is set so makes no new
 * step in the history unless `push` is given, and survives a reload.
 */
export function useParameter(
  name: string,
): [value: string | null, set: (value: string | null, options?: { push?: boolean }) => void] {
  const { query } = usePlace();
  return [query.get(name), (value, { push = false } = {}) => setParameters({ [name]: value }, { push })];
}

/** Changes several parameters of the address at once; null or the empty text takes one out. */
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

/** Links of the console lead on without loading the page anew; what opens a tab (middle click, Ctrl) is left alone. */
export function followLinks(): void {
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    const link = (event.target as Element).closest('a');
    if (link === null || link.target !== '' || link.hasAttribute('download')) return;
    const url = new URL(link.href, location.href);
    if (url.origin !== location.origin || !`${url.pathname}/`.startsWith(`${BASE}/`)) return;
    // Within this page: the browser scrolls there.
    if (url.hash !== '' && url.pathname + url.search === location.pathname + location.search) return;
    event.preventDefault();
    navigate(url.pathname + url.search + url.hash);
  });
}
