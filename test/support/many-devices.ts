import { createProduct, type TestServer } from './server.ts';

/** Makes devices of the unlimited plan: `$p` their product, `$devices` what they are. */
export const CREATE =
  'mutation ($p: ID!, $devices: [DeviceInput!]!) { createDevices(productId: $p, devices: $devices, plan: "unlimited") { id } }';
/** How many devices the product `$p` has. */
export const COUNT = 'query ($p: ID!) { devices(productId: $p) { totalCount } }';

/** Devices to be made by the thousand, with names and serial numbers of their own. */
export function named(count: number, prefix = 'd'): { name: string; serialNumber: string }[] {
  return Array.from({ length: count }, (_, at) => ({ name: `${prefix} ${at}`, serialNumber: `${prefix}-${at}` }));
}

/** A product without devices; its id. */
export async function newProduct(server: TestServer): Promise<string> {
  return (await createProduct(server, { serialNumbers: [] })).id;
}

/** Makes them; their ids. */
export async function create(server: TestServer, p: string, devices: unknown[]): Promise<string[]> {
  return (await server.gql(CREATE, { p, devices }))['createDevices'].map(({ id }: { id: string }) => id);
}

/** How many devices the product has. */
export async function count(server: TestServer, p: string): Promise<number> {
  return (await server.gql(COUNT, { p }))['devices'].totalCount as number;
}
