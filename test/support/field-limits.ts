import { createToken, createTenant, type Tenant } from './tenant.ts';
import type { TestServer } from './server.ts';

/** Stands in everything that a token limited to the field `shown` must not see. */
export const HIDDEN = /hidden|77\.125|2021-07-07T07:07:07|1625641627/i;
/** The time of the hidden values. */
const THEN = '2021-07-07T07:07:07Z';

/** A product whose fields `shown` and `shown_too` may be seen, and with hidden things wherever something can be. */
export interface LimitedTenant extends Tenant {
  serialNumber: string;
  /** Token → its secret. READ and RECORD, limited to the field `shown`, and beside that as the name says. */
  tokens: Record<'workspace' | 'product' | 'device', { id: string; secret: string }>;
}

export async function createLimitedTenant(server: TestServer): Promise<LimitedTenant> {
  const tenant = await createTenant(server);
  const { personal, productId, deviceId, workspaceId, webhookId } = tenant;
  const place = { x: 0, y: 0, width: 3, height: 2 };
  const widgets = [
    { kind: 'value', title: 'Shown', fields: ['shown'], place },
    { kind: 'value', title: 'of hidden_one', fields: ['shown'], options: { beside: 'hidden_one' }, place },
    { kind: 'line', title: 'Hidden too', fields: ['shown', 'hidden_one'], options: { hidden: 1 }, range: '7d', place },
    { kind: 'table', fields: ['hidden_one', 'hidden_two'], place },
  ];
  const data = await server.gql(
    `mutation ($product: ID!, $device: ID!, $dashboard: JSON!, $source: String!, $at: DateTime!) {
       a: addField(productId: $product, input: { identifier: "shown", type: FLOAT, name: "Shown", role: PRIMARY }) { id }
       b: addField(productId: $product, input: { identifier: "shown_too", type: FLOAT }) { id }
       c: addField(productId: $product, input: { identifier: "hidden_one", type: FLOAT, name: "Hidden", unit: "hidden", description: "hidden", role: SECONDARY }) { id }
       d: addField(productId: $product, input: { identifier: "hidden_two", type: STRING }) { id }
       updateProduct(id: $product, input: { dashboard: $dashboard }) { id }
       saveDecoder(productId: $product, source: $source, note: "hidden") { version }
       addDecoderExample(productId: $product, name: "hidden", request: { body: "hidden" }, expected: []) { id }
       addConfigurationField(productId: $product, input: { identifier: "hidden_set", type: STRING, default: "hidden" }) { id }
       setConfiguration(deviceId: $device, values: { hidden_set: "hidden by hand" }) { id }
       updateDevice(id: $device, input: { metadata: { hidden: true }, location: "(77.125,13)" }) { serialNumber }
       recordMeasurements(deviceId: $device, entries: [
         { field: "shown", value: 20.5 },
         { field: "hidden_one", value: 77.125, timestamp: $at },
         { field: "hidden_two", value: "hidden", timestamp: $at },
         { field: "hidden_unknown", value: "hidden" }
       ]) { stored }
     }`,
    {
      product: productId,
      device: deviceId,
      dashboard: { widgets },
      source: 'function Decoder(request) { console.log("hidden"); return [] }',
      at: THEN,
    },
    personal,
  );
  await fetch(`${server.url}/integrations/api/${webhookId}/hidden?hidden=1`, { method: 'POST', body: 'hidden' });
  const limited = (name: string, more: Record<string, unknown>) =>
    createToken(server, personal, workspaceId, ['READ', 'RECORD'], { name, fields: ['shown'], ...more });
  return {
    ...tenant,
    serialNumber: data['updateDevice'].serialNumber,
    tokens: {
      workspace: await limited('workspace', {}),
      product: await limited('product', { productIds: [productId] }),
      device: await limited('device', { deviceIds: [deviceId] }),
    },
  };
}
