import type { IncomingMessage } from 'node:http';

/**
 * Whether a request comes from a page of this very server, so that a cookie sent along with it was meant. Browsers say
 * so in `Sec-Fetch-Site`, and where they do not (plain HTTP) in `Origin` or `Referer`, whose host must be the one asked
 * or that of BASE_URL. A request without any of them is from no page of ours.
 */
export function isFromOwnPage({ headers }: IncomingMessage, baseUrl: string): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const host = hostOf(headers.origin ?? headers.referer);
  return host !== null && (host === headers.host?.toLowerCase() || host === hostOf(baseUrl));
}

function hostOf(url: string | undefined): string | null {
  const host = url !== undefined && URL.canParse(url) ? new URL(url).host : '';
  // A page such as a file has none: it is no page of a server that was asked without one either.
  return host === '' ? null : host;
}
