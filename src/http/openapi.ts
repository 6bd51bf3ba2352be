import { CHOICE, PARAMETERS } from './export-route.ts';

/** A status of RFC 9457 and when it is answered. */
const problem = (description: string): object => ({
  description,
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
});
const json = (description: string, schema: object): object => ({
  description,
  content: { 'application/json': { schema } },
});
const ref = (name: string): object => ({ $ref: `#/components/schemas/${name}` });
const parameter = (name: string, place: 'path' | 'query', description: string, type = 'string'): object => ({
  name,
  in: place,
  required: place === 'path',
  description,
  schema: { type },
});

const UNAUTHENTICATED = problem('No token, or one that is unknown, expired or revoked.');
const FORBIDDEN = problem('The token lacks the scope.');
const TOO_LARGE = problem('The body, or the number of entries, is over the limit that `detail` names.');
const UNAVAILABLE = problem('Overloaded, stopping, or the database is away: send it again after `Retry-After`.');
const NOT_FOUND = problem('Nothing of that name is visible to this token.');
const METHOD = problem('Another method; `Allow` names the right one.');

const DEVICE = parameter('device', 'path', 'Device id, or a serial number that exactly one visible device has.');
const FILE_QUERY = PARAMETERS.map((name) => parameter(name, 'query', 'See docs/files.md.'));
const IMPORT_QUERY = [
  parameter('dryRun', 'query', 'true: judges every line, answers the first ones as preview, and stores nothing.'),
  parameter('columns', 'query', 'Names for headings, such as Zeit:timestamp,Temp:temperature; see docs/files.md.'),
  parameter('timeZone', 'query', 'IANA zone of times without one; left out: that of the product.'),
];
const CHOICE_QUERY = CHOICE.map((name) => parameter(name, 'query', 'See docs/files.md.'));

const reading = (summary: string, type: string, parameters: object[]): object => ({
  get: {
    summary,
    parameters,
    responses: {
      200: { description: 'Streamed.', content: { [type]: { schema: { type: 'string' } } } },
      400: problem('A parameter is wrong; `detail` says which.'),
      401: UNAUTHENTICATED,
      403: FORBIDDEN,
      404: NOT_FOUND,
      405: METHOD,
      503: UNAVAILABLE,
    },
  },
});
const importing = (summary: string, parameters: object[]): object => ({
  post: {
    summary,
    parameters,
    requestBody: { required: true, content: { 'text/csv': {}, 'application/x-ndjson': {} } },
    responses: {
      200: json('Lines stored and refused.', { type: 'object' }),
      400: problem('The file has no shape that can be read.'),
      401: UNAUTHENTICATED,
      403: FORBIDDEN,
      404: NOT_FOUND,
      405: METHOD,
      503: UNAVAILABLE,
    },
  },
});
const ANSWER_200 = parameter('answer', 'query', '200: no other success is answered, such as 202 or 207.');
const hook = (summary: string): object => ({
  summary,
  parameters: [ANSWER_200],
  security: [],
  responses: {
    200: json(
      'The decoder ran; the product or the decoder may say something else for a call that is kept.',
      ref('Counts'),
    ),
    202: json('No decoder, or it failed: the call is kept and can be replayed.', ref('Counts')),
    404: problem('Unknown webhook.'),
    405: METHOD,
    413: TOO_LARGE,
    503: UNAVAILABLE,
  },
});
const network = (name: string): object => ({
  post: {
    summary: `Uplinks as ${name} sends them; the device’s serial number is the identifier in them.`,
    requestBody: { required: true, content: { 'application/json': {} } },
    responses: {
      200: json('Decoded, or an event that is only logged.', ref('Counts')),
      202: json('Kept: no device has this identifier, or the decoder failed.', ref('Counts')),
      400: problem('No JSON, or no identifier in it.'),
      401: UNAUTHENTICATED,
      403: FORBIDDEN,
      405: METHOD,
      413: TOO_LARGE,
      503: UNAVAILABLE,
    },
  },
});
const lines = (name: string): object => ({
  post: {
    summary: `Line protocol as for ${name}, with its answers; a tag of each line names the device (docs/lines.md).`,
    parameters: [parameter('precision', 'query', 'Unit of the times: ns (also left out), us, ms, s, m or h.')],
    requestBody: { required: true, content: { 'text/plain': {} } },
    responses: Object.fromEntries(
      Object.entries({
        204: 'Every value was stored.',
        400: 'The first refused line and its reason; the others were stored.',
        401: 'No token, or one that is unknown, expired or revoked.',
        403: 'The token lacks the scope.',
        405: 'Another method.',
        413: 'The body is over the limit.',
        429: 'Too many requests without a valid token.',
        503: 'Overloaded, stopping, or the database is away: send it again after `Retry-After`.',
      }).map(([status, description]) => [status, { description }]),
    ),
  },
});
const plain = (summary: string, statuses: Record<string, string>): object => ({
  get: {
    summary,
    security: [],
    responses: Object.fromEntries(Object.entries(statuses).map(([status, description]) => [status, { description }])),
  },
});

/** The REST paths of CONTRACT 3, 4, 6 and 8 as OpenAPI 3.1; GraphQL has a schema of its own. */
export const OPENAPI = {
  openapi: '3.1.0',
  info: {
    title: 'Inlet',
    version: '1',
    description:
      'Pages of the origins in ALLOWED_ORIGINS may use every path of this document with a token (CORS, without credentials).',
    license: { name: 'MIT', identifier: 'MIT' },
  },
  security: [{ token: [] }],
  paths: {
    '/v1/devices/{device}/record/': {
      post: {
        summary: 'Record measurements of one device; answered after the commit is durable.',
        parameters: [DEVICE, ANSWER_200],
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: { oneOf: [ref('Entry'), { type: 'array', maxItems: 10_000, items: ref('Entry') }] },
            },
          },
        },
        responses: {
          200: json('Every entry was stored.', ref('Outcome')),
          207: json('Some were stored, some were not.', ref('Outcome')),
          400: problem('No JSON, a wrong shape, or no entry could be stored.'),
          401: UNAUTHENTICATED,
          403: FORBIDDEN,
          404: NOT_FOUND,
          405: METHOD,
          408: problem('The body did not come in time.'),
          409: problem('Several visible devices have this serial number.'),
          413: TOO_LARGE,
          429: problem('Every refused entry is over the write limit and none was stored.'),
          503: UNAVAILABLE,
        },
      },
    },
    '/integrations/api/{webhook}/': {
      parameters: [parameter('webhook', 'path', 'The product’s secret webhook id; any path may follow.')],
      get: hook('A call to the product’s decoder.'),
      post: hook('A call to the product’s decoder, with a body of any kind.'),
    },
    '/integrations/lorawan/tti/': network('The Things Stack v3'),
    '/integrations/lorawan/chirpstack/': network('ChirpStack'),
    '/integrations/lorawan/helium/': network('Helium'),
    '/integrations/particle/': network('Particle'),
    '/v1/devices/{device}/history.csv': reading('A device’s history.', 'text/csv', [DEVICE, ...FILE_QUERY]),
    '/v1/devices/{device}/history.ndjson': reading('A device’s history.', 'application/x-ndjson', [
      DEVICE,
      ...FILE_QUERY,
    ]),
    '/v1/export.csv': reading('The history of many devices.', 'text/csv', [...CHOICE_QUERY, ...FILE_QUERY]),
    '/v1/export.ndjson': reading('The history of many devices.', 'application/x-ndjson', [
      ...CHOICE_QUERY,
      ...FILE_QUERY,
    ]),
    '/v1/devices/{device}/import': importing('Measurements of one device from a file.', [DEVICE, ...IMPORT_QUERY]),
    '/v1/import': importing('Measurements of many devices from a file.', IMPORT_QUERY),
    '/v1/devices.csv': {
      post: {
        summary: 'Devices of one product from a file: CSV with headings, or NDJSON by its type. Safe to send again.',
        parameters: [
          parameter('product', 'query', 'Id or key of the product; for its id alone also productId.'),
          parameter('workspace', 'query', 'Where to look for the key; needed by a token that sees several.'),
          parameter('onExisting', 'query', 'FAIL, KEEP or UPDATE a device that is there; left out: FAIL.'),
          parameter('plan', 'query', 'The plan of new devices whose line names none; left out: free.'),
          parameter('dryRun', 'query', 'true: says the outcome and stores nothing.'),
        ],
        requestBody: { required: true, content: { 'text/csv': {}, 'application/x-ndjson': {} } },
        responses: {
          200: json('An outcome for each line.', ref('DeviceImport')),
          400: problem('The file, or a column of it, cannot be read; or a parameter is wrong.'),
          401: UNAUTHENTICATED,
          403: FORBIDDEN,
          404: NOT_FOUND,
          405: METHOD,
          503: UNAVAILABLE,
        },
      },
    },
    '/write': lines('InfluxDB 1'),
    '/api/v2/write': lines('InfluxDB 2'),
    '/v1/openapi.json': plain('This document.', { 200: 'OpenAPI 3.1.' }),
    '/healthz': plain('Whether the process is alive.', { 200: 'It is.' }),
    '/readyz': plain('Whether it can serve.', { 200: 'Ready, or degraded.', 503: 'Not ready, or stopping.' }),
    '/metrics': {
      get: {
        summary: 'Prometheus metrics; scope ADMIN.',
        responses: { 200: { description: 'Text.' }, 401: UNAUTHENTICATED, 403: FORBIDDEN },
      },
    },
  },
  components: {
    securitySchemes: {
      token: {
        type: 'apiKey',
        in: 'header',
        name: 'Authorization',
        description: '`Token <token>` or `Bearer <token>`',
      },
    },
    schemas: {
      Entry: {
        type: 'object',
        required: ['field', 'value'],
        properties: {
          field: { type: 'string', description: 'Identifier of a field of the product.' },
          value: { type: ['number', 'string', 'boolean'] },
          timestamp: {
            type: ['number', 'string'],
            description: 'Unix seconds from 2000 on; the receipt time when left out.',
          },
        },
      },
      Rejection: {
        type: 'object',
        required: ['index', 'field', 'code', 'message'],
        properties: {
          index: { type: 'integer' },
          field: { type: ['string', 'null'] },
          code: { type: 'string' },
          message: { type: 'string' },
        },
      },
      Outcome: {
        type: 'object',
        required: ['stored', 'rejected'],
        description: 'With `ahead` (see Ahead) where something of it lies ahead of the server’s clock.',
        properties: { stored: { type: 'integer' }, rejected: { type: 'array', items: ref('Rejection') } },
      },
      Counts: {
        type: 'object',
        required: ['stored', 'rejected'],
        properties: {
          stored: { type: 'integer' },
          rejected: { type: 'integer' },
          error: { type: 'string' },
          ahead: ref('Ahead'),
        },
      },
      Ahead: {
        type: 'object',
        description:
          'Of what was stored: how much lies ahead of the server’s clock, and by how many seconds; else left out.',
        properties: { values: { type: 'integer' }, seconds: { type: 'integer' }, message: { type: 'string' } },
      },
      DeviceImport: {
        type: 'object',
        required: ['lines', 'created', 'updated', 'kept', 'refusedLines', 'refused'],
        properties: {
          ...Object.fromEntries(
            ['lines', 'created', 'updated', 'kept', 'refusedLines'].map((count) => [count, { type: 'integer' }]),
          ),
          refused: {
            type: 'array',
            description: 'The first 10,000 lines that were refused.',
            items: {
              type: 'object',
              required: ['line', 'serialNumber', 'code', 'message'],
              properties: {
                line: { type: 'integer' },
                serialNumber: { type: ['string', 'null'] },
                code: { type: 'string' },
                message: { type: 'string' },
              },
            },
          },
        },
      },
      Problem: {
        type: 'object',
        required: ['type', 'title', 'status', 'detail', 'code'],
        properties: {
          type: { type: 'string' },
          title: { type: 'string' },
          status: { type: 'integer' },
          detail: { type: 'string' },
          code: { type: 'string' },
          requestId: { type: 'string' },
        },
      },
    },
  },
};
