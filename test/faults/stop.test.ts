import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_TOKEN } from '../support/server-process.ts';
import { createDatabase, createProduct, DATABASES, startServer, type TestDatabase } from '../support/server.ts';

describe.each(DATABASES)('SIGTERM on %s', (name) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase(name);
  });
  afterAll(() => database.drop());

  test('drains: a request on its way is answered and stored, then the process ends with 0', async () => {
    const server = await startServer({ database });
    const { deviceIds } = await createProduct(server);
    const body = JSON.stringify([{ field: 'temperature', value: 5, timestamp: 100 }]);
    const socket = connect(server.process.port, '127.0.0.1');
    let answer = '';
    socket.on('data', (chunk) => (answer += chunk.toString()));
    const ended = new Promise((resolve) => socket.on('close', resolve));
    socket.write(
      `POST /v1/devices/${deviceIds[0]}/record/ HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${ADMIN_TOKEN}\r\n` +
        `Content-Length: ${body.length}\r\n\r\n${body.slice(0, 10)}`,
    );
    await new Promise((resolve) => setTimeout(resolve, 200));
    const exit = server.process.stop('SIGTERM');
    await new Promise((resolve) => setTimeout(resolve, 200));
    socket.write(body.slice(10));
    expect(await exit).toBe(0);
    await ended;
    expect(answer).toMatch(/^HTTP\/1\.1 200/);

    const again = await startServer({ database });
    const { device } = await again.gql('query ($id: ID!) { device(id: $id) { latest { value } } }', {
      id: deviceIds[0],
    });
    expect(device.latest).toEqual([{ value: 5 }]);
    await again.stop();
  });

  test('drains: a GraphQL request on its way is answered, newcomers are told 503, health is still told', async () => {
    const server = await startServer({ database });
    const { deviceIds } = await createProduct(server, { serialNumbers: ['draining'] });
    const body = JSON.stringify({
      query: `mutation { recordMeasurements(deviceId: "${deviceIds[0]}", entries: [{ field: "temperature", value: 6 }]) { stored } }`,
    });
    const socket = connect(server.process.port, '127.0.0.1');
    let answer = '';
    socket.on('data', (chunk) => (answer += chunk.toString()));
    const ended = new Promise((resolve) => socket.on('close', resolve));
    socket.write(
      `POST /graphql HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${ADMIN_TOKEN}\r\n` +
        `Content-Length: ${body.length}\r\n\r\n${body.slice(0, 10)}`,
    );
    await new Promise((resolve) => setTimeout(resolve, 200));
    const exit = server.process.stop('SIGTERM');
    await expect.poll(async () => (await fetch(`${server.url}/readyz`)).status).toBe(503);
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    const refused = await server.record(deviceIds[0] as string, [{ field: 'temperature', value: 7 }]);
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.body).toMatchObject({ code: 'UNAVAILABLE', stored: 0, rejected: [] });
    socket.write(body.slice(10));
    expect(await exit).toBe(0);
    await ended;
    expect(answer).toMatch(/^HTTP\/1\.1 200/);
    expect(answer).toContain('{"data":{"recordMeasurements":{"stored":1}}}');
  });

  test('the first start prints a token that works, later starts print none', async () => {
    const fresh = await createDatabase(name);
    const server = await startServer({ database: fresh, env: { ADMIN_TOKEN: '' } });
    const token = server.process.lines.find((line) => 'token' in line)?.['token'] as string;
    expect(token.length).toBeGreaterThanOrEqual(32);
    const { viewer } = await server.gql('{ viewer { user { operator } workspaces { name } } }', {}, token);
    expect(viewer).toEqual({ user: { operator: true }, workspaces: [{ name: 'default' }] });
    await server.stop();
    const again = await startServer({ database: fresh, env: { ADMIN_TOKEN: '' } });
    expect(again.process.lines.filter((line) => 'token' in line)).toEqual([]);
    expect((await again.query('{ viewer { token { id } } }', {}, token)).errors).toBeUndefined();
    await again.stop();
    await fresh.drop();
  });

  test('healthz and readyz answer', async () => {
    const server = await startServer({ database });
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    await expect.poll(async () => (await fetch(`${server.url}/readyz`)).status, { timeout: 5000 }).toBe(200);
    expect((await fetch(`${server.url}/nothing`)).status).toBe(404);
    await server.stop();
  });
});
