import mqtt, { type IClientOptions, type MqttClient } from 'mqtt';
import { must } from '../../src/must.ts';
import { startServer, type TestDatabase, type DatabaseName, type TestServer } from './server.ts';

/** A server with a port for MQTT, a product with fields `N`, `M` and a token that may record. */
export interface MqttTestServer {
  server: TestServer;
  port: number;
  tlsPort: number | null;
  productId: string;
  /** Clients that `connect` has made and that are still there are ended with it. */
  stop: () => Promise<void>;
  connect: (options?: IClientOptions) => Promise<MqttClient>;
  /** Makes a device; its id is its serial number as well. */
  addDevice: () => Promise<{ id: string; serialNumber: string }>;
  /** The stored values of `N`, in order of time. */
  stored: (deviceId: string) => Promise<number[]>;
}

let count = 0;

export async function startMqttServer(
  database: DatabaseName | TestDatabase,
  { env = {}, alone = false }: { env?: Record<string, string>; alone?: boolean } = {},
): Promise<MqttTestServer> {
  const server = await startServer({ database, env: { MQTT_PORT: '0', ...env }, alone });
  const { createProduct: product } = await server.gql(
    'mutation ($input: CreateProductInput!) { createProduct(input: $input) { id } }',
    {
      input: {
        name: 'mqtt',
        fields: ['N', 'M'].map((identifier) => ({ identifier, type: 'INTEGER' })),
      },
    },
  );
  const clients: MqttClient[] = [];
  const ports = portsOf(server);
  return {
    server,
    ...ports,
    productId: product.id,
    connect: async (options = {}) => {
      const client = await mqtt.connectAsync(`mqtt://127.0.0.1:${ports.port}`, {
        username: 'anything',
        password: server.adminToken,
        protocolVersion: 5,
        reconnectPeriod: 20,
        ...options,
      });
      clients.push(client);
      return client;
    },
    addDevice: async () => {
      count += 1;
      const serialNumber = `mqtt-${process.pid}-${count}`;
      const { createDevices } = await server.gql(
        'mutation ($id: ID!, $devices: [DeviceInput!]!) { createDevices(productId: $id, devices: $devices, plan: "unlimited") { id } }',
        { id: product.id, devices: [{ name: 'd', serialNumber }] },
      );
      return { id: createDevices[0].id, serialNumber };
    },
    stored: (deviceId) => storedIn(server, deviceId),
    stop: async () => {
      for (const client of clients) client.end(true);
      await server.stop();
    },
  };
}

/** The ports that the server has told. */
export function portsOf(server: TestServer): { port: number; tlsPort: number | null } {
  const line = must(server.process.lines.find(({ msg }) => msg === 'MQTT: listening'));
  return { port: line['port'] as number, tlsPort: line['tlsPort'] as number | null };
}

/** The stored values of `N` of a device, in order of time. */
export async function storedIn(server: TestServer, deviceId: string): Promise<number[]> {
  const { device } = await server.gql(
    `query ($id: ID!) { device(id: $id) { history(fields: ["N"], from: "2001-01-01T00:00:00Z", to: "2100-01-01T00:00:00Z") { values } } }`,
    { id: deviceId },
  );
  return device.history[0]?.values ?? [];
}
