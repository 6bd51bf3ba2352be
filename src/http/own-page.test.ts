import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { isFromOwnPage } from './own-page.ts';

const BASE = 'https://inlet.example';

test.each([
  [{ host: 'here', origin: 'http://here' }, true],
  [{ host: 'here', referer: 'http://here/console/' }, true],
  [{ host: 'here', origin: BASE }, true],
  [{ host: 'here', origin: 'http://there' }, false],
  [{ host: 'here' }, false],
  [{ host: '', origin: 'file://' }, false],
  [{ host: '', origin: 'data:x' }, false],
  [{ host: '', origin: 'null' }, false],
  [{ host: 'here', origin: 'http://here', 'sec-fetch-site': 'cross-site' }, false],
])('%j is a page of this server: %s', (headers, expected) => {
  expect(isFromOwnPage({ headers } as unknown as IncomingMessage, BASE)).toBe(expected);
});
