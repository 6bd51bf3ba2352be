import type { PATHS } from '../../src/domain/access/path-rights.ts';
import type { Tenant } from '../support/tenant.ts';
import { OPENS, REACHES } from './operations.ts';

interface Call {
  query: string;
  variables: (tenant: Tenant) => Record<string, unknown>;
}

/** What the ids of one's own do not decide, beside `OPENS`. */
const MORE: Record<string, string> = {
  'Query.auditLog()': '{ auditLog { edges { node { id } } } }',
  'Mutation.createToken(PERSONAL)': 'mutation { createToken(input: { name: "x", kind: PERSONAL }) { token { id } } }',
};

/** `Query.devices(productId)`: an operation and what it is about; those of one name answer the same. */
function rowOf(name: string, query: string): string {
  const args = query.slice(query.indexOf('{')).replace('serialNumber: "x", ', '');
  return `${name}(${/^\{\s*\w+\((\w+)/.exec(args)?.[1] ?? ''})`;
}

/** How to ask for every operation about what one owns, by its row in the matrix. */
export const CALLS: ReadonlyMap<string, Call[]> = Map.groupBy(
  [
    ...Object.entries(REACHES).flatMap(([name, reaches]) =>
      reaches.map(({ query, variables }) => ({
        row: rowOf(name, query),
        query,
        variables: (tenant: Tenant) => variables(tenant, tenant),
      })),
    ),
    ...Object.entries(OPENS).map(([name, { query, variables }]) => ({
      row: rowOf(name, query),
      query,
      variables: variables ?? (() => ({})),
    })),
    ...Object.entries(MORE).map(([row, query]) => ({ row, query, variables: () => ({}) })),
  ].filter(({ row }) => !row.startsWith('Product.')),
  ({ row }) => row,
);

/** What The Things Stack sends of a device. */
export const UPLINK = (dev_eui: string): string =>
  JSON.stringify({ end_device_ids: { dev_eui }, uplink_message: { f_port: 1, frm_payload: 'AQ==' } });

interface RestCall {
  /** What stands for the parameter of the path. */
  place?: (tenant: Tenant) => string;
  query?: (tenant: Tenant) => string;
  headers?: Record<string, string>;
  body?: (about: { token: string | null; serialNumber: string }) => string;
}

const device = ({ deviceId }: Tenant): string => deviceId;
const csv = { headers: { 'Content-Type': 'text/csv' }, body: () => 'device,field,timestamp,value\n' };

/** How to call every path of the table. */
export const REST_CALLS: Record<keyof typeof PATHS, RestCall> = {
  '/v1/devices/:device/record': { place: device, body: () => '[]' },
  '/v1/devices/:device/history.csv': { place: device },
  '/v1/devices/:device/history.ndjson': { place: device },
  '/v1/export.csv': {},
  '/v1/export.ndjson': {},
  '/v1/devices/:device/import': { place: device, ...csv },
  '/v1/import': csv,
  '/v1/devices.csv': { ...csv, query: ({ productId }) => `?product=${productId}`, body: () => 'serialNumber\n' },
  '/integrations/api/:webhook': { place: ({ webhookId }) => webhookId },
  '/integrations/lorawan/:network': { place: () => 'tti', body: ({ serialNumber }) => UPLINK(serialNumber) },
  '/integrations/particle': {
    body: ({ serialNumber }) => JSON.stringify({ coreid: serialNumber, event: 'x', data: '1' }),
  },
  '/write': { body: () => '' },
  '/api/v2/write': { body: () => '' },
  '/query': { query: () => '?q=CREATE%20DATABASE%20x' },
  '/ping': {},
  '/health': {},
  '/graphql': { headers: { 'Content-Type': 'application/json' }, body: () => '{"query":"{ __typename }"}' },
  '/console/session': { body: ({ token }) => JSON.stringify({ token: token ?? 'none' }) },
  '/console/tiles': {},
  '/console': {},
  '/': { headers: { Accept: 'text/html' } },
  '/metrics': {},
  '/v1/openapi.json': {},
  '/healthz': {},
  '/readyz': {},
};
