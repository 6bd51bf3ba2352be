/**
 * Who is answered what. Columns, from the left:
 *
 *   unlimited, a product, a device   tokens of a workspace, not limited, or limited to what is asked about, with one scope
 *                                    (R READ, W RECORD, C CONFIGURE, A ADMIN) or all (*)
 *   session                          people signed in, by role: V VIEWER, E EDITOR, A ADMIN
 *   O                                an operator who is no member of the workspace
 *   X, R, N                          a token that expired, one that was revoked, none
 *   K                                an ADMIN's token in the cookie of the console
 *
 * Cells: `✓` allowed, `F` FORBIDDEN (403), `U` UNAUTHENTICATED (401), `-` NOT_FOUND (404), `0` null. `npm test` asks the
 * server all of it. What is new in the schema or among the paths needs a row here, and one in domain/access/rights.ts.
 *
 * Operations are asked about what one owns: `Query.devices(productId)` with the id of the product.
 */
export const OPERATION_MATRIX = `
                                                 unlimited   a product   a device    session
                                                 R W C A *   R W C A *   R W C A *   V E A   O   X R   N
Query.viewer()                                   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓   ✓   U U   U
Query.plans()                                    ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓   ✓   U U   U
Query.installation()                             F F F F F   F F F F F   F F F F F   F F F   ✓   U U   U
Query.user(email)                                F F F ✓ ✓   F F F F F   F F F F F   F F ✓   ✓   U U   U
Query.users()                                    F F F ✓ ✓   F F F F F   F F F F F   F F ✓   ✓   U U   U
Query.workspaces()                               ✓ F F F ✓   ✓ F F F ✓   ✓ F F F ✓   ✓ ✓ ✓   ✓   U U   U
Query.workspace(id)                              ✓ F F F ✓   ✓ F F F ✓   ✓ F F F ✓   ✓ ✓ ✓   -   U U   U
Query.products(workspaceId)                      ✓ F F F ✓   ✓ F F F ✓   ✓ F F F ✓   ✓ ✓ ✓   -   U U   U
Query.products()                                 ✓ F F F ✓   ✓ F F F ✓   ✓ F F F ✓   ✓ ✓ ✓   ✓   U U   U
Query.product(id)                                ✓ F F F ✓   ✓ F F F ✓   - F F F -   ✓ ✓ ✓   -   U U   U
Query.product(key)                               ✓ F F F ✓   ✓ F F F ✓   - F F F -   ✓ ✓ ✓   -   U U   U
Query.devices(workspaceId)                       ✓ F F F ✓   ✓ F F F ✓   ✓ F F F ✓   ✓ ✓ ✓   -   U U   U
Query.devices(productId)                         ✓ F F F ✓   ✓ F F F ✓   - F F F -   ✓ ✓ ✓   -   U U   U
Query.devices()                                  ✓ F F F ✓   ✓ F F F ✓   ✓ F F F ✓   ✓ ✓ ✓   ✓   U U   U
Query.device(id)                                 ✓ F F F ✓   ✓ F F F ✓   ✓ F F F ✓   ✓ ✓ ✓   -   U U   U
Query.planChange(deviceId)                       ✓ F F F ✓   ✓ F F F ✓   ✓ F F F ✓   ✓ ✓ ✓   -   U U   U
Query.productChange(deviceId)                    F F F F ✓   F F F F -   F F F F F   F ✓ ✓   -   U U   U
Query.deviceBySerialNumber(workspaceId)          0 F F F 0   0 F F F 0   0 F F F 0   0 0 0   -   U U   U
Query.deviceBySerialNumber(productId)            0 F F F 0   0 F F F 0   - F F F -   0 0 0   -   U U   U
Query.history(deviceIds)                         ✓ F F F ✓   ✓ F F F ✓   ✓ F F F ✓   ✓ ✓ ✓   -   U U   U
Query.history(productId)                         ✓ F F F ✓   ✓ F F F ✓   - F F F -   ✓ ✓ ✓   -   U U   U
Query.dashboard(id)                              ✓ F F F ✓   ✓ F F F ✓   ✓ F F F ✓   ✓ ✓ ✓   -   U U   U
Query.alerts(workspaceId)                        ✓ F F F ✓   ✓ F F F ✓   ✓ F F F ✓   ✓ ✓ ✓   -   U U   U
Query.alerts(productId)                          ✓ F F F ✓   ✓ F F F ✓   - F F F -   ✓ ✓ ✓   -   U U   U
Query.alerts(deviceId)                           ✓ F F F ✓   ✓ F F F ✓   ✓ F F F ✓   ✓ ✓ ✓   -   U U   U
Query.unknownDevices(workspaceId)                ✓ F F F ✓   F F F F F   F F F F F   ✓ ✓ ✓   -   U U   U
Query.exportConfiguration(workspaceId)           F F F F ✓   F F F F F   F F F F F   F F ✓   -   U U   U
Query.auditLog(workspaceId)                      F F F ✓ ✓   F F F F F   F F F F F   F F ✓   -   U U   U
Query.auditLog()                                 F F F F F   F F F F F   F F F F F   F F F   ✓   U U   U

Mutation.signIn(email)                           ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓   ✓   ✓ ✓   ✓
Mutation.acceptInvitation(secret)                - - - - -   - - - - -   - - - - -   - - -   -   - -   -
Mutation.resetPassword(secret)                   - - - - -   - - - - -   - - - - -   - - -   -   - -   -
Mutation.createWorkspace(name)                   F F F F F   F F F F F   F F F F F   F F F   ✓   U U   U
Mutation.createUser(input)                       F F F F F   F F F F F   F F F F F   F F F   ✓   U U   U
Mutation.updateUser(id)                          F F F F F   F F F F F   F F F F F   F F F   ✓   U U   U
Mutation.deleteUser(id)                          F F F F F   F F F F F   F F F F F   F F F   ✓   U U   U
Mutation.changePassword(currentPassword)         F F F F F   F F F F F   F F F F F   ✓ ✓ ✓   ✓   U U   U
Mutation.renameWorkspace(id)                     F F F ✓ ✓   F F F F F   F F F F F   F F ✓   -   U U   U
Mutation.revokeInvitation(workspaceId)           F F F ✓ ✓   F F F F F   F F F F F   F F ✓   -   U U   U
Mutation.deleteWorkspace(id)                     F F F F ✓   F F F F F   F F F F F   F F ✓   -   U U   U
Mutation.setMember(workspaceId)                  F F F F ✓   F F F F F   F F F F F   F F ✓   -   U U   U
Mutation.createInvitation(workspaceId)           F F F F ✓   F F F F F   F F F F F   F F ✓   -   U U   U
Mutation.createPasswordReset(userId)             F F F F ✓   F F F F F   F F F F F   F F ✓   ✓   U U   U
Mutation.removeMember(workspaceId)               F F F ✓ ✓   F F F F F   F F F F F   F F ✓   -   U U   U
Mutation.createToken(input)                      F F F F ✓   F F F F F   F F F F F   F F ✓   -   U U   U
Mutation.createToken(PERSONAL)                   F F F F F   F F F F F   F F F F F   ✓ ✓ ✓   ✓   U U   U
Mutation.updateToken(id)                         F F F F ✓   F F F F F   F F F F F   F F ✓   -   U U   U
Mutation.renewToken(id)                          F F F F ✓   F F F F F   F F F F F   F F ✓   -   U U   U
Mutation.planConfiguration(workspaceId)          F F F F ✓   F F F F F   F F F F F   F F ✓   -   U U   U
Mutation.applyConfiguration(workspaceId)         F F F F ✓   F F F F F   F F F F F   F F ✓   -   U U   U
Mutation.revokeToken(id)                         F F F ✓ ✓   F F F F F   F F F F F   F F ✓   -   U U   U
Mutation.createProduct(input)                    F F ✓ F ✓   F F F F F   F F F F F   F ✓ ✓   -   U U   U
Mutation.updateProduct(id)                       F F ✓ F ✓   F F ✓ F ✓   F F - F -   F ✓ ✓   -   U U   U
Mutation.deleteProduct(id)                       F F ✓ F ✓   F F ✓ F ✓   F F - F -   F ✓ ✓   -   U U   U
Mutation.cloneProduct(id)                        F F F F ✓   F F F F F   F F F F F   F ✓ ✓   -   U U   U
Mutation.rotateWebhook(productId)                F F ✓ F ✓   F F ✓ F ✓   F F - F -   F ✓ ✓   -   U U   U
Mutation.ignoreSuggestedField(productId)         F F ✓ F ✓   F F ✓ F ✓   F F - F -   F ✓ ✓   -   U U   U
Mutation.addField(productId)                     F F ✓ F ✓   F F ✓ F ✓   F F - F -   F ✓ ✓   -   U U   U
Mutation.updateField(id)                         F F ✓ F ✓   F F ✓ F ✓   F F - F -   F ✓ ✓   -   U U   U
Mutation.renameField(id)                         F F ✓ F ✓   F F ✓ F ✓   F F - F -   F ✓ ✓   -   U U   U
Mutation.removeFieldAlias(id)                    F F ✓ F ✓   F F ✓ F ✓   F F - F -   F ✓ ✓   -   U U   U
Mutation.removeField(id)                         F F ✓ F ✓   F F ✓ F ✓   F F - F -   F ✓ ✓   -   U U   U
Mutation.addConfigurationField(productId)        F F ✓ F ✓   F F ✓ F ✓   F F - F -   F ✓ ✓   -   U U   U
Mutation.createRule(productId)                   F F ✓ F ✓   F F ✓ F ✓   F F - F -   F ✓ ✓   -   U U   U
Mutation.updateRule(id)                          F F ✓ F ✓   F F ✓ F ✓   F F - F -   F ✓ ✓   -   U U   U
Mutation.deleteRule(id)                          F F ✓ F ✓   F F ✓ F ✓   F F - F -   F ✓ ✓   -   U U   U
Mutation.testRule(ruleId)                        ✓ F F F ✓   ✓ F F F ✓   - F F F -   ✓ ✓ ✓   -   U U   U
Mutation.testRule(productId)                     ✓ F F F ✓   ✓ F F F ✓   - F F F -   ✓ ✓ ✓   -   U U   U
Mutation.acknowledgeAlert(id)                    F F ✓ F ✓   F F ✓ F ✓   F F ✓ F ✓   F ✓ ✓   -   U U   U
Mutation.snoozeAlert(id)                         F F ✓ F ✓   F F ✓ F ✓   F F ✓ F ✓   F ✓ ✓   -   U U   U
Mutation.updateConfigurationField(id)            F F ✓ F ✓   F F ✓ F ✓   F F - F -   F ✓ ✓   -   U U   U
Mutation.removeConfigurationField(id)            F F ✓ F ✓   F F ✓ F ✓   F F - F -   F ✓ ✓   -   U U   U
Mutation.createDevices(productId)                F F ✓ F ✓   F F ✓ F ✓   F F - F -   F ✓ ✓   -   U U   U
Mutation.importDevices(productId)                F F ✓ F ✓   F F ✓ F ✓   F F - F -   F ✓ ✓   -   U U   U
Mutation.updateDevice(id)                        F F ✓ F ✓   F F ✓ F ✓   F F ✓ F ✓   F ✓ ✓   -   U U   U
Mutation.deleteDevices(ids)                      F F ✓ F ✓   F F ✓ F ✓   F F ✓ F ✓   F ✓ ✓   -   U U   U
Mutation.saveDeviceView(workspaceId)             F F F F ✓   F F F F F   F F F F F   F ✓ ✓   -   U U   U
Mutation.deleteDeviceView(workspaceId)           F F F F ✓   F F F F F   F F F F F   F ✓ ✓   -   U U   U
Mutation.setConfiguration(deviceId)              F F ✓ F ✓   F F ✓ F ✓   F F ✓ F ✓   F ✓ ✓   -   U U   U
Mutation.addNote(deviceId)                       F F ✓ F ✓   F F ✓ F ✓   F F ✓ F ✓   F ✓ ✓   -   U U   U
Mutation.updateNote(id)                          F F ✓ F ✓   F F ✓ F ✓   F F ✓ F ✓   F ✓ ✓   -   U U   U
Mutation.removeNote(id)                          F F ✓ F ✓   F F ✓ F ✓   F F ✓ F ✓   F ✓ ✓   -   U U   U
Mutation.replaceDevice(id)                       F F ✓ F ✓   F F ✓ F ✓   F F F F F   F ✓ ✓   -   U U   U
Mutation.adoptUnknownDevice(id)                  F F ✓ F ✓   F F F F F   F F F F F   F ✓ ✓   -   U U   U
Mutation.adoptUnknownDevices(ids)                F F ✓ F ✓   F F F F F   F F F F F   F ✓ ✓   -   U U   U
Mutation.setWriteRate(workspaceId)               F F F F ✓   F F F F F   F F F F F   F F ✓   -   U U   U
Mutation.setWriteRate(productId)                 F F ✓ F ✓   F F ✓ F ✓   F F - F -   F ✓ ✓   -   U U   U
Mutation.setWriteRate(deviceId)                  F F ✓ F ✓   F F ✓ F ✓   F F ✓ F ✓   F ✓ ✓   -   U U   U
Mutation.saveDecoder(productId)                  F F ✓ F ✓   F F ✓ F ✓   F F - F -   F ✓ ✓   -   U U   U
Mutation.activateDecoder(productId)              F F ✓ F ✓   F F ✓ F ✓   F F - F -   F ✓ ✓   -   U U   U
Mutation.addDecoderExample(productId)            F F ✓ F ✓   F F ✓ F ✓   F F - F -   F ✓ ✓   -   U U   U
Mutation.removeDecoderExample(id)                F F ✓ F ✓   F F ✓ F ✓   F F - F -   F ✓ ✓   -   U U   U
Mutation.testDecoder(productId)                  F F F F ✓   F F F F ✓   F F F F -   F ✓ ✓   -   U U   U
Mutation.updateDevices(productId)                F F F F ✓   F F F F ✓   F F F F -   F ✓ ✓   -   U U   U
Mutation.replayCalls(productId)                  F F ✓ F ✓   F F ✓ F ✓   F F - F -   F ✓ ✓   -   U U   U
Mutation.createEndpoint(workspaceId)             F F F F ✓   F F F F F   F F F F F   F ✓ ✓   -   U U   U
Mutation.updateEndpoint(id)                      F F F F ✓   F F F F F   F F F F F   F ✓ ✓   -   U U   U
Mutation.rotateEndpointSecret(id)                F F F F ✓   F F F F F   F F F F F   F ✓ ✓   -   U U   U
Mutation.deleteEndpoint(id)                      F F F F ✓   F F F F F   F F F F F   F ✓ ✓   -   U U   U
Mutation.testEndpoint(id)                        F F F F ✓   F F F F F   F F F F F   F ✓ ✓   -   U U   U
Mutation.retryDeliveries(endpointId)             F F F F ✓   F F F F F   F F F F F   F ✓ ✓   -   U U   U
Mutation.saveDashboard(workspaceId)              F F ✓ F ✓   F F F F F   F F F F F   F ✓ ✓   -   U U   U
Mutation.saveDashboard(id)                       F F ✓ F ✓   F F F F F   F F F F F   F ✓ ✓   -   U U   U
Mutation.deleteDashboard(id)                     F F ✓ F ✓   F F F F F   F F F F F   F ✓ ✓   -   U U   U
Mutation.recordMeasurements(deviceId)            F ✓ F F ✓   F ✓ F F ✓   F ✓ F F ✓   F ✓ ✓   -   U U   U
Mutation.deleteMeasurements(deviceId)            F F ✓ F ✓   F F ✓ F ✓   F F ✓ F ✓   F ✓ ✓   -   U U   U

Subscription.measurementsRecorded(workspaceId)   ✓ F F F ✓   ✓ F F F ✓   ✓ F F F ✓   ✓ ✓ ✓   -   U U   U
Subscription.measurementsRecorded(productId)     ✓ F F F ✓   ✓ F F F ✓   - F F F -   ✓ ✓ ✓   -   U U   U
Subscription.measurementsRecorded(deviceIds)     ✓ F F F ✓   ✓ F F F ✓   ✓ F F F ✓   ✓ ✓ ✓   -   U U   U
Subscription.deliveryChanged(endpointId)         ✓ F F F ✓   F F F F F   F F F F F   ✓ ✓ ✓   -   U U   U
Subscription.webhookCalled(productId)            ✓ F F F ✓   ✓ F F F ✓   - F F F -   ✓ ✓ ✓   -   U U   U
Subscription.deviceStatusChanged(workspaceId)    ✓ F F F ✓   ✓ F F F ✓   ✓ F F F ✓   ✓ ✓ ✓   -   U U   U
Subscription.deviceStatusChanged(productId)      ✓ F F F ✓   ✓ F F F ✓   - F F F -   ✓ ✓ ✓   -   U U   U
Subscription.deviceStatusChanged(deviceIds)      ✓ F F F ✓   ✓ F F F ✓   ✓ F F F ✓   ✓ ✓ ✓   -   U U   U
Subscription.alertChanged(workspaceId)           ✓ F F F ✓   ✓ F F F ✓   ✓ F F F ✓   ✓ ✓ ✓   -   U U   U
Subscription.alertChanged(productId)             ✓ F F F ✓   ✓ F F F ✓   - F F F -   ✓ ✓ ✓   -   U U   U
Subscription.alertChanged(deviceIds)             ✓ F F F ✓   ✓ F F F ✓   ✓ F F F ✓   ✓ ✓ ✓   -   U U   U
`;

/** The same for REST; `(another)`: about a device of the workspace that the limits do not cover. */
export const PATH_MATRIX = `
                                                   unlimited   a product   a device    session
                                                   R W C A *   R W C A *   R W C A *   V E A   O   X R   N   K
POST /v1/devices/:device/record                    F ✓ F F ✓   F ✓ F F ✓   F ✓ F F ✓   F ✓ ✓   -   U U   U   U
POST /v1/devices/:device/record (another)          F ✓ F F ✓   F F F F F   F F F F F   F ✓ ✓   -   U U   U   U
GET /v1/devices/:device/history.csv                ✓ F F F ✓   ✓ F F F ✓   ✓ F F F ✓   ✓ ✓ ✓   -   U U   U   ✓
GET /v1/devices/:device/history.csv (another)      ✓ F F F ✓   F F F F F   F F F F F   ✓ ✓ ✓   -   U U   U   ✓
GET /v1/devices/:device/history.ndjson             ✓ F F F ✓   ✓ F F F ✓   ✓ F F F ✓   ✓ ✓ ✓   -   U U   U   ✓
GET /v1/devices/:device/history.ndjson (another)   ✓ F F F ✓   F F F F F   F F F F F   ✓ ✓ ✓   -   U U   U   ✓
GET /v1/export.csv                                 ✓ F F F ✓   ✓ F F F ✓   ✓ F F F ✓   ✓ ✓ ✓   ✓   U U   U   ✓
GET /v1/export.ndjson                              ✓ F F F ✓   ✓ F F F ✓   ✓ F F F ✓   ✓ ✓ ✓   ✓   U U   U   ✓
GET /console/tiles                                 ✓ F F F ✓   ✓ F F F ✓   ✓ F F F ✓   ✓ ✓ ✓   ✓   U U   U   ✓
POST /v1/devices/:device/import                    F F ✓ F ✓   F F ✓ F ✓   F F ✓ F ✓   F ✓ ✓   -   U U   U   ✓
POST /v1/devices/:device/import (another)          F F ✓ F ✓   F F F F F   F F F F F   F ✓ ✓   -   U U   U   ✓
POST /v1/import                                    F F ✓ F ✓   F F ✓ F ✓   F F ✓ F ✓   F ✓ ✓   ✓   U U   U   ✓
POST /v1/devices.csv                               F F ✓ F ✓   F F ✓ F ✓   F F - F -   F ✓ ✓   -   U U   U   U
GET /integrations/api/:webhook                     ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓   ✓   ✓ ✓   ✓   ✓
POST /integrations/api/:webhook                    ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓   ✓   ✓ ✓   ✓   ✓
POST /integrations/lorawan/:network                F ✓ F F ✓   F ✓ F F ✓   F ✓ F F ✓   F ✓ ✓   ✓   U U   U   U
POST /integrations/particle                        F ✓ F F ✓   F ✓ F F ✓   F ✓ F F ✓   F ✓ ✓   ✓   U U   U   U
POST /write                                        F ✓ F F ✓   F ✓ F F ✓   F ✓ F F ✓   F ✓ ✓   ✓   U U   U   U
POST /api/v2/write                                 F ✓ F F ✓   F ✓ F F ✓   F ✓ F F ✓   F ✓ ✓   ✓   U U   U   U
GET /query                                         F ✓ F F ✓   F ✓ F F ✓   F ✓ F F ✓   F ✓ ✓   ✓   U U   U   U
POST /query                                        F ✓ F F ✓   F ✓ F F ✓   F ✓ F F ✓   F ✓ ✓   ✓   U U   U   U
GET /ping                                          ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓   ✓   ✓ ✓   ✓   ✓
HEAD /ping                                         ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓   ✓   ✓ ✓   ✓   ✓
GET /health                                        ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓   ✓   ✓ ✓   ✓   ✓
HEAD /health                                       ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓   ✓   ✓ ✓   ✓   ✓
GET /graphql                                       ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓   ✓   ✓ ✓   ✓   ✓
POST /graphql                                      ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓   ✓   ✓ ✓   ✓   ✓
POST /console/session                              ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓   ✓   U U   U   ✓
DELETE /console/session                            ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓   ✓   ✓ ✓   ✓   ✓
GET /console                                       ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓   ✓   ✓ ✓   ✓   ✓
HEAD /console                                      ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓   ✓   ✓ ✓   ✓   ✓
GET /                                              ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓   ✓   ✓ ✓   ✓   ✓
HEAD /                                             ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓   ✓   ✓ ✓   ✓   ✓
GET /metrics                                       F F F ✓ ✓   F F F F F   F F F F F   F F ✓   ✓   U U   U   U
GET /v1/openapi.json                               ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓   ✓   ✓ ✓   ✓   ✓
HEAD /v1/openapi.json                              ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓   ✓   ✓ ✓   ✓   ✓
GET /healthz                                       ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓   ✓   ✓ ✓   ✓   ✓
HEAD /healthz                                      ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓   ✓   ✓ ✓   ✓   ✓
GET /readyz                                        ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓   ✓   ✓ ✓   ✓   ✓
HEAD /readyz                                       ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓ ✓ ✓   ✓ ✓ ✓   ✓   ✓ ✓   ✓   ✓
`;
