import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProduct, EITHER_DATABASE, startServer, type TestServer } from '../support/server.ts';
import { createToken, createWorkspace } from '../support/tenant.ts';
import { callWebhook } from '../decoders/webhook-client.ts';

const BODY_BYTES = 2000;

describe.each(EITHER_DATABASE)('the secrets of a call on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database, env: { CALL_LOG_BODY_BYTES: String(BODY_BYTES) } });
  });
  afterAll(() => server?.stop());

  test('no part of a secret is shown to who may only READ where a text was cut, nor in suggested fields', async () => {
    const secret = 'k3ySecretOfTheSenderThatIsLongerThanItsPlace0123456';
    const decoder = `function Decoder(request) {
      var key = request.headers["X-Api-Key"], id = request.path.split("/")[3];
      if (request.body === "bad") return "p".repeat(170) + key;
      if (request.body === "bad id") return "p".repeat(180) + id;
      return [key, id].flatMap(function (text, at) {
        return [
          { device: "d1", field: "NEW_" + at, value: "is " + text },
          { device: "d1", field: text, value: 1 },
          { device: "d1", field: "p".repeat(44) + text, value: 1 },
          { device: "p".repeat(44) + text, field: "T", value: 1 },
          { device: "d1", field: "S", value: ["p".repeat(975) + text] },
        ];
      });
    }`;
    const workspaceId = await createWorkspace(server, 'secrets');
    const { id, webhookId } = await createProduct(server, {
      workspaceId,
      fields: { T: 'FLOAT', S: 'STRING' },
      serialNumbers: ['d1'],
      input: { decoder },
    });
    for (const body of ['x', 'bad', 'bad id', 'b'.repeat(BODY_BYTES - 20) + webhookId])
      await callWebhook(server, { webhookId }, { headers: { 'X-Api-Key': secret }, body });
    const { createToken } = await server.gql('mutation ($i: CreateTokenInput!) { createToken(input: $i) { secret } }', {
      i: { name: 'reader', kind: 'INDIVIDUAL', workspaceId, scopes: ['READ'] },
    });
    const query = `query ($id: ID!) { product(id: $id) { suggestedFields { identifier lastValue } calls { edges { node {
      path body headers run { output console error { message } entries { device field value message suggestedField { identifier } } } } } } } }`;
    const read = async () => (await server.gql(query, { id }, createToken.secret)).product;
    await expect.poll(async () => (await read()).suggestedFields.length).toBeGreaterThan(1);
    const shown = await read();
    expect(shown.calls.edges.length).toBe(4);
    expect(Object.fromEntries(shown.suggestedFields.map((one: any) => [one.identifier, one.lastValue]))).toEqual({
      NEW_0: 'is ***',
      NEW_1: 'is ***',
    });
    for (const part of [secret.slice(0, 8), webhookId.slice(0, 8)]) expect(JSON.stringify(shown)).not.toContain(part);
  });

  test('nor is the webhook id in the examples of a decoder, which are made of logged calls', async () => {
    const workspaceId = await createWorkspace(server, 'examples');
    const { id, webhookId } = await createProduct(server, { workspaceId });
    const uri = `/integrations/api/${webhookId}/up`;
    const request = { path: uri, headers: { 'X-Forwarded-Uri': uri }, body: JSON.stringify({ uri }) };
    await server.gql(
      'mutation ($id: ID!, $r: DecoderRequestInput!, $e: JSON!) { addDecoderExample(productId: $id, name: "x", request: $r, expected: $e) { id } }',
      { id, r: request, e: [{ field: 'F', value: uri }] },
    );
    const { cloneProduct } = await server.gql('mutation ($id: ID!) { cloneProduct(id: $id, name: "copy") { id } }', {
      id,
    });
    const read = async (of: string, scopes: string[]): Promise<string> => {
      const { secret } = await createToken(server, server.adminToken, workspaceId, scopes);
      const query = 'query ($id: ID!) { product(id: $id) { decoderExamples { name request expected } } }';
      return JSON.stringify(await server.gql(query, { id: of }, secret));
    };
    for (const of of [id, cloneProduct.id]) {
      const shown = await read(of, ['READ']);
      expect(shown).toContain('/integrations/api/***/up');
      expect(shown).not.toContain(webhookId.slice(0, 8));
      expect(await read(of, ['READ', 'CONFIGURE'])).toContain(webhookId);
    }
  });
});
