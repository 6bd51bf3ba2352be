import { describe, expect, test } from 'vitest';
import {
  parseParameters,
  requestOfCall,
  requestOfInput,
  webhookInput,
} from '../../src/domain/decoders/decoder-request.ts';
import { type HeaderList, headerList } from '../../src/domain/decoders/header-names.ts';
import { requestBodyText } from '../../src/domain/decoders/request-body.ts';
import type { CallOutcome } from '../../src/domain/decoders/call-runner.ts';
import type { ProductInfo } from '../../src/domain/ingest-cache/ingest-cache.ts';
import { callRow, cutText } from '../../src/domain/calls/call-row.ts';
import { maskedHeaders } from '../../src/domain/decoders/masked-headers.ts';
import { EventLoopQueue } from '../../src/scheduling/event-loop-queue.ts';
import { LANES } from '../../src/scheduling/lanes.ts';
import { splitUrl } from '../../src/http/decoder-call.ts';

describe('parameters', () => {
  test.each([
    ['a=1&a=2&b=x+y', { a: ['1', '2'], b: ['x y'] }],
    ['flag&empty=', { flag: [''], empty: [''] }],
    ['t=%C3%A9&bad=%zz', { t: ['é'], bad: ['%zz'] }],
    ['', {}],
    ['__proto__=1&constructor=2', JSON.parse('{"__proto__":["1"],"constructor":["2"]}')],
  ])('%s', (query, expected) => {
    expect(JSON.parse(JSON.stringify(parseParameters(query)))).toEqual(expected);
  });
});

describe('headers', () => {
  test('are in Title-Case, repeated ones joined as HTTP says', () => {
    const raw = [
      'content-TYPE',
      'a/b',
      'X-Two',
      '1',
      'x-two',
      '2',
      'cookie',
      'a=1',
      'Cookie',
      'b=2',
      'Content-Type',
      'c/d',
    ];
    expect(headerList(raw)).toEqual([
      ['Content-Type', 'a/b'],
      ['X-Two', '1, 2'],
      ['Cookie', 'a=1; b=2'],
    ]);
  });

  test.each([
    'Authorization', 'Proxy-Authorization', 'Cookie', 'Set-Cookie', 'X-Api-Key', 'Api-Key', 'Apikey', 'X-Auth-Token',
    'X-Gitlab-Token', 'X-Hub-Signature-256', 'X-Webhook-Secret', 'X-Password', 'Ocp-Apim-Subscription-Key',
    'X-Functions-Key', 'X-Auth', 'X-Csrf', 'X-Session-Id', 'X-Amz-Security-Token', 'Authentication', 'X-Authentication', 'X-Authorisation', 'X-Bearer', 'X-Oauth-Client', 'X-Pin',
    'X-Forwarded-Client-Cert', 'X-Amzn-Oidc-Data', 'Dpop',
  ])('%s is masked in the log', (name) => {
    expect(JSON.parse(maskedHeaders([[name, 'hush']]))).toEqual({ [name]: '***' });
  }); // oxfmt-ignore

  test.each([
    'Content-Type',
    'User-Agent',
    'Host',
    'X-Request-Id',
    'Idempotency-Key',
    'Accept',
    'Keep-Alive',
    'X-Author',
    'X-Mapping',
    'X-Inside',
  ])('%s is not', (name) => {
    expect(JSON.parse(maskedHeaders([[name, 'seen']]))).toEqual({ [name]: 'seen' });
  });
});

describe('body text', () => {
  const latin = Buffer.from([0x32, 0xb0]);
  test.each([
    ['UTF-8 without a word', Buffer.from('é€'), undefined, 'é€'],
    ['a byte order mark is dropped', Buffer.from('\ufeff{"a":1}'), 'application/json', '{"a":1}'],
    ['declared latin1', latin, 'text/plain; charset=ISO-8859-1', '2°'],
    ['declared UTF-16', Buffer.from('hé', 'utf16le'), 'text/plain; charset="utf-16le"', 'hé'],
    ['UTF-16 by its mark', Buffer.from('\ufeffhé', 'utf16le'), 'text/csv', 'hé'],
    ['text that is no UTF-8', latin, 'application/json', '2°'],
    ['a byte among UTF-8', Buffer.concat([Buffer.from('€'), latin]), 'text/plain', '€2°'],
    ['an unknown charset counts as UTF-8', Buffer.from('é'), 'text/plain; charset=klingon', 'é'],
    ['binary bytes as characters', Buffer.from([0, 255, 128]), 'application/octet-stream', '\u0000ÿ\u0080'],
    ['binary bytes without content type', latin, undefined, '2°'],
    ['none', Buffer.alloc(0), undefined, ''],
  ])('%s', (_, bytes, contentType, expected) => {
    expect(requestBodyText(bytes, contentType)).toBe(expected);
  });
});

describe('the URL', () => {
  test.each([
    ['/integrations/api/ID/a%2Fb/?x=1', '/integrations/api/ID/a%2Fb/', 'x=1'],
    ['/prefix/integrations/api/ID', '/integrations/api/ID', ''],
    ['/integrations/api/ID/?u=/integrations/api/', '/integrations/api/ID/', 'u=/integrations/api/'],
    ['/integrations/api/ID/x?a?b', '/integrations/api/ID/x', 'a?b'],
  ])('%s', (url, path, query) => {
    expect(splitUrl(url, '/integrations/api/')).toEqual({ path, query });
  });
});

describe('a typed request', () => {
  test("has the webhook's path before its sub-path, and the query in GET", () => {
    expect(requestOfInput({ path: '/data/?unit=C', headers: { 'x-a': ['1', 2] }, body: 'b' }, 'ID')).toMatchObject({
      method: 'POST',
      path: '/integrations/api/ID/data/',
      headers: [['X-A', '1, 2']],
      body: 'b',
    });
    expect(requestOfInput({}, 'ID')).toMatchObject({ method: 'GET', path: '/integrations/api/ID/', body: '' });
    expect(requestOfInput({ path: '/integrations/particle/' }, 'ID').path).toBe('/integrations/particle/');
  });

  test.each([
    { method: 'GET /' },
    { headers: 'x' },
    { headers: { 'bad name': '1' } },
    { headers: { A: {} } },
    { headers: [['A']] },
    { headers: Object.fromEntries(Array.from({ length: 201 }, (_, at) => [`x-${at}`, '1'])) },
    { body: 'x'.repeat(1_048_577) },
  ])('%j is refused', (input) => {
    expect(() => requestOfInput(input, 'ID')).toThrow(/^request\./);
  });
});

describe('a logged call', () => {
  const product = { key: 7, decoder: { version: 3, source: '' } } as ProductInfo;
  const outcome: CallOutcome = {
    status: 'NO_DECODER',
    run: null,
    reason: null,
    copyOf: null,
    frame: null,
    unknownNames: [],
    raw: [],
    batches: [],
    stored: 0,
    rejected: 0,
    receiptTime: null,
    ahead: null,
  };
  const request = {
    method: 'POST',
    path: '/integrations/api/ID/x/',
    GET: parseParameters('a=1&a=2&__proto__=x'),
    headers: headerList(['content-type', 'application/x-www-form-urlencoded', 'authorization', 'Token t', 'x-a', 'b']),
    body: 'p=1&p=2&q',
  };
  const turns = new EventLoopQueue(LANES.socketMessages);

  test('gives decoders the same request as the live one, credentials masked', async () => {
    const live = JSON.parse(await webhookInput(request, turns));
    const replayed = JSON.parse(
      await webhookInput(requestOfCall(callRow(product, request, outcome, 1e12, 1000)), turns),
    );
    expect(live.POST).toEqual({ p: ['1', '2'], q: [''] });
    live.headers[1][1] = '***';
    expect(replayed).toEqual(live);
  });

  test('POST is filled from a form POST only', async () => {
    expect(JSON.parse(await webhookInput({ ...request, method: 'GET' }, turns)).POST).toEqual({});
    const plain = { ...request, headers: [['Content-Type', 'text/plain']] as HeaderList };
    expect(JSON.parse(await webhookInput(plain, turns)).POST).toEqual({});
  });

  test('a form of a megabyte is read as one of a line is, and meanwhile others have their turn', async () => {
    const pairs = Array.from({ length: 60_000 }, (_, at) => `?é${at % 50_000}=${at}&&__proto__=%C3%A9+${at}`);
    const body = `?${pairs.join('&')}`;
    let others = 0;
    const other = setInterval(() => (others += 1), 1);
    const { POST } = JSON.parse(await webhookInput({ ...request, body }, turns));
    clearInterval(other);
    expect(POST).toEqual(JSON.parse(JSON.stringify(parseParameters(body))));
    expect(others).toBeGreaterThan(0);
  });

  test('keeps at most so many bytes of the body, and whole characters', () => {
    expect(cutText('a€b', 5)).toBe('a€b');
    expect(cutText('a€b', 4)).toBe('a€');
    expect(cutText('a€b', 3)).toBe('a');
    expect(cutText('😀😀', 7)).toBe('😀');
    expect(cutText('x', 0)).toBe('');
    expect(callRow(product, { ...request, body: 'x'.repeat(11) }, outcome, 1, 10)).toMatchObject({
      body: 'x'.repeat(10),
      bodyTruncated: true,
      httpStatus: 202,
      decoderVersion: null,
    });
  });
});
