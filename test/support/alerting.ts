import { createProduct, type TestServer } from './server.ts';
import { createWorkspace } from './tenant.ts';

/** A workspace with a device "Freezer" of the serial number "freezer-1", and a rule that it is too warm above 30. */
export async function createWorkspaceWithRule(
  server: TestServer,
): Promise<{ workspaceId: string; productId: string; deviceId: string }> {
  const workspaceId = await createWorkspace(server, 'alerting');
  const { id: productId } = await createProduct(server, { workspaceId, serialNumbers: [], input: { key: 'freezers' } });
  const { createDevices } = await server.gql(
    `mutation ($id: ID!) {
       createDevices(productId: $id, devices: [{ name: "Freezer", serialNumber: "freezer-1", tags: ["cold"] }]) { id }
       createRule(productId: $id, input: {
         key: "too-warm", name: "Too warm", levels: [{ severity: WARNING, all: [{ field: "temperature", operator: GT, value: 30 }] }]
       }) { id }
     }`,
    { id: productId },
  );
  return { workspaceId, productId, deviceId: createDevices[0].id };
}
