import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { keptBytes } from '../support/counted-work.ts';
import { expectPieces, piecesOfServer } from '../support/pieces.ts';
import { ADMIN_TOKEN } from '../support/server-process.ts';
import { createProduct, EITHER_DATABASE, type GqlAnswer, startServer, type TestServer } from '../support/server.ts';
import { firstPush } from '../support/subscribe.ts';

describe.each(EITHER_DATABASE)('what an answer may hold on %s', (database) => {
  let server: TestServer;

  beforeAll(async () => {
    // As it runs: what is read twice to be compared would count twice, and differ where rows go in between.
    server = await startServer({
      alone: true,
      database,
      watched: true,
      env: { CALL_LOG_BODY_BYTES: '524288', MAX_BODY_BYTES: '16777216' },
    });
  });

  afterAll(async () => {
    await server?.stop();
  });

  test('an answer of too many bytes is refused, saying what to ask instead', async () => {
    const { id, deviceIds } = await createProduct(server, {
      serialNumbers: Array.from({ length: 100 }, (_, at) => `wordy-${at}`),
    });
    const metadata = { notes: Array.from({ length: 150 }, () => 'x'.repeat(400)) };
    for (const device of deviceIds)
      await server.gql('mutation ($d: ID!, $m: JSON!) { updateDevice(id: $d, input: { metadata: $m }) { id } }', {
        d: device,
        m: metadata,
      });
    const ask = (first: number) => {
      const fields = 'm0: metadata m1: metadata m2: metadata';
      const query = `query ($id: ID!) { devices(productId: $id, first: ${first}) { edges { node { ${fields} } } } }`;
      return server.query(query, { id });
    };
    expect((await ask(1)).data?.['devices'].edges[0].node.m2).toEqual(metadata);
    const { data, errors } = await ask(100);
    expect(data).toBeNull();
    expect(errors?.map(({ extensions }) => extensions)).toEqual([
      { code: 'QUERY_TOO_COMPLEX', limit: 'bytes', allowed: 16_777_216 },
    ]);
    expect(errors?.[0]?.message).toContain('leave long fields');
  });

  describe('a large answer', () => {
    const bodies = Array.from({ length: 20 }, (_, at) => `${at}${'ü🙂"\\'.repeat(8_000)}`);
    const edges = bodies.toReversed().map((body) => ({ node: { body } }));
    let id: string;

    beforeAll(async () => {
      // Two of them have a device that is called alike.
      const [product] = [
        await createProduct(server, { serialNumbers: ['twice'] }),
        await createProduct(server, { serialNumbers: ['twice'] }),
      ];
      id = product.id;
      const url = `${server.url}/integrations/api/${product.webhookId}/`;
      for (const body of bodies) await fetch(url, { method: 'POST', body });
    });

    const queryWith = (more: string): string =>
      `query ($id: ID!) { product(id: $id) { calls(first: 20) { edges { node { body } } } } ${more} }`;

    const ask = (more: string, accept: string): Promise<Response> => {
      const query = queryWith(more);
      return fetch(`${server.url}/graphql`, {
        method: 'POST',
        headers: { Authorization: `Token ${ADMIN_TOKEN}`, 'Content-Type': 'application/json', Accept: accept },
        body: JSON.stringify({ query, variables: { id } }),
      });
    };

    test('is whole, as many ask for it at once', async () => {
      const check = async (): Promise<void> => {
        const response = await ask('', '*/*');
        const bytes = Buffer.from(await response.arrayBuffer());
        expect(bytes.length).toBeGreaterThan(1_000_000);
        expect(response.headers.get('Content-Length')).toBe(`${bytes.length}`);
        expect(response.headers.get('Content-Type')).toBe('application/json; charset=utf-8');
        expect(JSON.parse(bytes.toString())).toEqual({ data: { product: { calls: { edges } } } });
      };
      await Promise.all([check(), check(), check()]);
    });

    test('says what failed in it', async () => {
      const response = await ask('twice: deviceBySerialNumber(serialNumber: "twice") { id }', 'application/json');
      const text = await response.text();
      expect(text.startsWith('{"errors":[')).toBe(true);
      const { data, errors } = JSON.parse(text);
      expect(data).toEqual({ product: { calls: { edges } }, twice: null });
      expect(errors).toMatchObject([{ path: ['twice'], extensions: { code: 'CONFLICT' } }]);
    });

    describe('over a WebSocket', () => {
      const texts: string[] = [];
      let socket: WebSocket;

      beforeAll(async () => {
        socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
        await once(socket, 'open');
        socket.on('message', (data: Buffer, isBinary) => texts.push(isBinary ? 'binary' : data.toString()));
        const acknowledged = once(socket, 'message');
        socket.send(JSON.stringify({ type: 'connection_init', payload: { token: ADMIN_TOKEN } }));
        await acknowledged;
        texts.length = 0;
      });

      afterAll(() => socket.terminate());

      const subscribe = (name: string, query: string): void =>
        socket.send(JSON.stringify({ id: name, type: 'subscribe', payload: { query, variables: { id } } }));

      test('it is the same, and says what failed in it', async () => {
        subscribe('a "1"', queryWith('twice: deviceBySerialNumber(serialNumber: "twice") { id }'));
        await expect.poll(() => texts.length).toBe(2);
        const [next, complete] = texts.splice(0);
        // As it was written piece by piece: graphql-ws would have written the errors behind the data.
        expect(next!.slice(0, 60)).toContain('{"id":"a \\"1\\"","type":"next","payload":{"errors":[{');
        expect(JSON.parse(next!)).toMatchObject({
          id: 'a "1"',
          payload: {
            data: { product: { calls: { edges } }, twice: null },
            errors: [{ path: ['twice'], extensions: { code: 'CONFLICT' } }],
          },
        });
        expect(JSON.parse(complete!)).toEqual({ id: 'a "1"', type: 'complete' });
      });

      test('nothing of it comes when it was called off meanwhile', async () => {
        subscribe('off', queryWith('also: __typename'));
        socket.send(JSON.stringify({ id: 'off', type: 'complete' }));
        subscribe('on', queryWith(''));
        await expect.poll(() => texts.length).toBeGreaterThan(1);
        expect(texts.splice(0).map((text) => JSON.parse(text).id)).toEqual(['on', 'on']);
      });
    });

    test('is not given to who takes no JSON', async () => {
      const response = await ask('', 'text/plain');
      expect(response.status).toBe(406);
      expect((await response.text()).length).toBeLessThan(1_000);
    });
  });

  test('logs of calls with long bodies are read no further than an operation may load', async () => {
    const { id, webhookId } = await createProduct(server);
    const body = 'x'.repeat(65_000);
    for (let at = 0; at < 60; at += 1)
      await fetch(`${server.url}/integrations/api/${webhookId}/`, { method: 'POST', body });
    const calls = Array.from({ length: 20 }, (_, at) => `c${at}: calls(first: ${60 + at}) { edges { node { id } } }`);
    const one = `query ($id: ID!) { product(id: $id) { ${calls[0]} } }`;
    const { product } = await server.gql(one, { id });
    const ids = product.c0.edges.map((edge: { node: { id: string } }) => edge.node.id);
    expect(new Set(ids).size).toBe(60);
    const { errors } = await server.query(`query ($id: ID!) { product(id: $id) { ${calls.join(' ')} } }`, { id });
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'QUERY_TOO_COMPLEX', limit: 'bytes' });
  });

  test('sources of decoders and examples are loaded no further than an operation may', async () => {
    const { id } = await createProduct(server);
    const source = (at: number): string => `function Decoder() { return [] } // ${at} ${'x'.repeat(200_000)}`;
    const save = 'mutation ($id: ID!, $s: String!) { saveDecoder(productId: $id, source: $s) { version } }';
    for (let at = 0; at < 12; at += 1) await server.gql(save, { id, s: source(at) });
    const listed = await server.gql('query ($id: ID!) { product(id: $id) { decoderVersions { version source } } }', {
      id,
    });
    expect(listed['product'].decoderVersions).toHaveLength(12);
    for (let at = 0; at < 30; at += 1)
      await server.gql(
        `mutation ($id: ID!, $name: String!, $body: String!) {
           addDecoderExample(productId: $id, name: $name, request: { body: $body }, expected: []) { id }
         }`,
        { id, name: `example ${at}`, body: 'x'.repeat(200_000) },
      );
    const examples = ['a', 'b', 'c'].map((name) => `${name}: decoderExamples { request }`);
    const ask = (count: number) =>
      server.query(`query ($id: ID!) { product(id: $id) { ${examples.slice(0, count).join(' ')} } }`, { id });
    expect((await ask(1)).errors).toBeUndefined();
    const before = server.process.residentMb();
    expect((await ask(3)).errors?.[0]?.extensions).toMatchObject({ code: 'QUERY_TOO_COMPLEX', limit: 'bytes' });
    expect(server.process.residentMb() - before).toBeLessThan(250);
  });

  test('devices and products that are deleted while a list is read do not fail it', async () => {
    const query = `query ($id: ID!) { devices(productId: $id, first: 200) { edges { node { id product { name fields { unit } } online
      latest { value } history(from: "2026-01-01T00:00:00Z", to: "2026-01-02T00:00:00Z") { values }
      measurements(field: "temperature", first: 1) { edges { cursor } } } } } }`;
    const codes: (string | undefined)[] = [];
    for (let round = 0; round < 4; round += 1) {
      const { id, deviceIds } = await createProduct(server, {
        serialNumbers: Array.from({ length: 60 }, (_, at) => `gone-${round}-${at}`),
      });
      const asking = Array.from({ length: 4 }, () => server.query(query, { id }));
      const deleting =
        round % 2 === 0
          ? server.gql('mutation ($ids: [ID!]!) { deleteDevices(ids: $ids) }', { ids: deviceIds })
          : server.gql('mutation ($id: ID!) { deleteProduct(id: $id) }', { id });
      for (const { errors } of await Promise.all(asking)) codes.push(errors?.[0]?.extensions.code);
      await deleting;
    }
    // A product that is gone before the list starts is not found: nothing was read yet.
    expect(codes.filter((code) => code !== undefined && code !== 'NOT_FOUND')).toEqual([]);
    expect(codes).toContain(undefined);
  });

  // It does not come to any database.
  if (database === 'postgres') return;

  test('a long event is written piece by piece: of characters that are escaped one was a piece of 0.25 s', async () => {
    const names = Array.from({ length: 500 }, (_, at) => `f${at}`);
    const { deviceIds } = await createProduct(server, {
      fields: Object.fromEntries(names.map((name) => [name, 'STRING'])),
      serialNumbers: ['escaped'],
    });
    const following = (fields: string, after: string | null) =>
      firstPush(
        server.url,
        ADMIN_TOKEN,
        `subscription ($d: [ID!], $after: String) { measurementsRecorded(deviceIds: $d, after: $after) { ${fields} } }`,
        { d: deviceIds, after },
      );
    const begun = following('cursor', null);
    const metrics = { headers: { Authorization: `Token ${ADMIN_TOKEN}` } };
    const live = async (): Promise<string> => (await fetch(`${server.url}/metrics`, metrics)).text();
    await expect.poll(live, { interval: 5 }).toMatch(/^inlet_subscriptions 1$/m);
    await server.record(deviceIds[0]!, [{ field: 'f0', value: 'x', timestamp: 1_700_000_000 }]);
    const cursor = (await begun)?.data?.['measurementsRecorded'].cursor;
    const value = '\u0001'.repeat(4_096);
    const entries = names.map((field) => ({ field, value, timestamp: 1_700_000_001 }));
    expect((await server.record(deviceIds[0]!, entries)).status).toBe(200);
    const values = (times: number): string => Array.from({ length: times }, (_, at) => `a${at}: value`).join(' ');
    let answers: (GqlAnswer | null)[] = [];
    const follow = async (): Promise<void> => {
      answers = [];
      for (const times of [2, 3]) answers.push(await following(`measurements { ${values(times)} }`, cursor));
    };
    await expectPieces(4, () => piecesOfServer(server, follow));
    const measurements = answers[0]?.data?.['measurementsRecorded'].measurements;
    expect(measurements).toHaveLength(names.length);
    expect(measurements[0]).toMatchObject({ a0: value, a1: value });
    expect(answers[1]).toMatchObject({ errors: [{ extensions: { code: 'QUERY_TOO_COMPLEX', limit: 'bytes' } }] });
  });

  test('what anonymous strangers ask leaves no memory behind', async () => {
    const ask = async (from: number, count: number): Promise<void> => {
      for (let at = from; at < from + count; at += 20)
        await Promise.all(
          Array.from({ length: 20 }, (_, more) =>
            fetch(`${server.url}/graphql`, {
              method: 'POST',
              headers: { 'Content-Type': 'application/json' },
              body: JSON.stringify({
                query: `{ ${Array.from({ length: 30 }, (_, n) => `t${at + more}_${n}: __type(name: "T${n}") { kind }`).join(' ')} }`,
              }),
            }).then((answer) => answer.arrayBuffer()),
          ),
        );
    };
    await ask(0, 100);
    const before = await keptBytes(server);
    await ask(100, 400);
    // All of them would be 44 MB.
    expect((await keptBytes(server)) - before).toBeLessThan(4e6);
  });
});
