import { presentedToken } from './presented-token.ts';

/** Fetches from the server, with the session's cookie, or the token that the page presents and no cookie. */
export function ownFetch(
  path: string,
  init: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> } = {},
): Promise<Response> {
  const token = presentedToken();
  const own: Record<string, string> = token === null ? {} : { Authorization: `Token ${token}` };
  return fetch(path, {
    ...init,
    headers: { ...init.headers, ...own },
    credentials: token === null ? 'same-origin' : 'omit',
  });
}
