// Written by build/console-operations.ts. Do not edit.

/** `Aggregation` of schema.graphql. */
export type Aggregation = 'AVG' | 'COUNT' | 'DIFFERENCE' | 'FIRST' | 'LAST' | 'MAX' | 'MIN' | 'SUM' | 'TIME_AVG';

/** `AlertState` of schema.graphql. */
export type AlertState = 'FIRING' | 'PENDING' | 'RECOVERING' | 'RESOLVED';

/** `CallStatus` of schema.graphql. */
export type CallStatus = 'DECODER_FAILED' | 'NOTHING_STORED' | 'NO_DECODER' | 'PARTLY_STORED' | 'STORED';

/** `CircleInput` of schema.graphql. */
export type CircleInput = { center: string; meters: number };

/** `ConditionInput` of schema.graphql. */
export type ConditionInput = { absentSeconds?: number | null | undefined; circle?: CircleInput | null | undefined; clear?: number | string | boolean | null | undefined; configurationField?: string | null | undefined; field?: string | null | undefined; from?: number | string | boolean | null | undefined; operator?: ConditionOperator | null | undefined; otherField?: string | null | undefined; polygon?: readonly (string)[] | null | undefined; to?: number | string | boolean | null | undefined; value?: number | string | boolean | null | undefined; window?: ConditionWindowInput | null | undefined };

/** `ConditionOperator` of schema.graphql. */
export type ConditionOperator = 'CONTAINS' | 'EQ' | 'GT' | 'GTE' | 'INSIDE' | 'LT' | 'LTE' | 'NEQ' | 'OUTSIDE';

/** `ConditionWindowInput` of schema.graphql. */
export type ConditionWindowInput = { aggregation: Aggregation; seconds: number };

/** `ConfigurationFieldInput` of schema.graphql. */
export type ConfigurationFieldInput = { default?: unknown; description?: string | null | undefined; identifier: string; name?: string | null | undefined; type: ConfigurationType };

/** `ConfigurationType` of schema.graphql. */
export type ConfigurationType = 'BOOLEAN' | 'NUMBER' | 'STRING';

/** `CreateProductInput` of schema.graphql. */
export type CreateProductInput = { answer200?: boolean | null | undefined; dashboard?: unknown; decoder?: string | null | undefined; deviceType?: DeviceType | null | undefined; fields?: readonly (FieldInput)[] | null | undefined; ignoreZeroPlaces?: boolean | null | undefined; key?: string | null | undefined; name: string; offlineAfterSeconds?: number | null | undefined; timeZone?: string | null | undefined; webhookAnswer?: WebhookAnswerInput | null | undefined; workspaceId?: string | null | undefined };

/** `CreateTokenInput` of schema.graphql. */
export type CreateTokenInput = { deviceIds?: readonly (string)[] | null | undefined; expiresAt?: string | null | undefined; fields?: readonly (string)[] | null | undefined; kind: TokenKind; name: string; productIds?: readonly (string)[] | null | undefined; scopes?: readonly (TokenScope)[] | null | undefined; workspaceId?: string | null | undefined };

/** `CreateUserInput` of schema.graphql. */
export type CreateUserInput = { email: string; name?: string | null | undefined; operator?: boolean | null | undefined; password?: string | null | undefined };

/** `DecoderRequestInput` of schema.graphql. */
export type DecoderRequestInput = { body?: string | null | undefined; headers?: unknown; method?: string | null | undefined; path?: string | null | undefined };

/** `DeliveryStatus` of schema.graphql. */
export type DeliveryStatus = 'DEAD' | 'DELIVERED' | 'WAITING';

/** `DeviceInput` of schema.graphql. */
export type DeviceInput = { location?: string | null | undefined; metadata?: unknown; name: string; serialNumber?: string | null | undefined; tags?: readonly (string)[] | null | undefined };

/** `DeviceOrder` of schema.graphql. */
export type DeviceOrder = 'CREATED' | 'LAST_HEARD' | 'NAME';

/** `DeviceType` of schema.graphql. */
export type DeviceType = 'API' | 'LORAWAN' | 'PARTICLE';

/** `EndpointInput` of schema.graphql. */
export type EndpointInput = { addresses?: readonly (string)[] | null | undefined; enabled?: boolean | null | undefined; events: readonly (string)[]; key?: string | null | undefined; kind: EndpointKind; name: string; productIds?: readonly (string)[] | null | undefined; tags?: readonly (string)[] | null | undefined; url?: string | null | undefined };

/** `EndpointKind` of schema.graphql. */
export type EndpointKind = 'ALERTMANAGER' | 'EMAIL' | 'WEBHOOK';

/** `EntryInput` of schema.graphql. */
export type EntryInput = { field: string; timestamp?: string | null | undefined; value: number | string | boolean };

/** `FieldInput` of schema.graphql. */
export type FieldInput = { description?: string | null | undefined; display?: unknown; identifier: string; meaning?: FieldMeaning | null | undefined; name?: string | null | undefined; overflowAt?: number | null | undefined; role?: FieldRole | null | undefined; type: FieldType; unit?: string | null | undefined };

/** `FieldMeaning` of schema.graphql. */
export type FieldMeaning = 'ANGLE' | 'COUNTER' | 'GAUGE' | 'STATE' | 'TOTAL';

/** `FieldMoveInput` of schema.graphql. */
export type FieldMoveInput = { from: string; to?: string | null | undefined };

/** `FieldRole` of schema.graphql. */
export type FieldRole = 'BATTERY' | 'LOCATION' | 'PRIMARY' | 'SECONDARY' | 'SIGNAL';

/** `FieldType` of schema.graphql. */
export type FieldType = 'BOOLEAN' | 'FLOAT' | 'GEOLOCATION' | 'INTEGER' | 'STRING';

/** `NoteKind` of schema.graphql. */
export type NoteKind = 'CHANGED' | 'CONFIGURED' | 'MOVED' | 'REPLACED' | 'WRITTEN';

/** `OnExisting` of schema.graphql. */
export type OnExisting = 'FAIL' | 'KEEP' | 'UPDATE';

/** `Role` of schema.graphql. */
export type Role = 'ADMIN' | 'EDITOR' | 'VIEWER';

/** `RuleInput` of schema.graphql. */
export type RuleInput = { clearForSeconds?: number | null | undefined; enabled?: boolean | null | undefined; forSeconds?: number | null | undefined; key?: string | null | undefined; latched?: boolean | null | undefined; levels: readonly (RuleLevelInput)[]; name: string; notify?: RuleNotifyInput | null | undefined; schedule?: ScheduleInput | null | undefined; tags?: readonly (string)[] | null | undefined };

/** `RuleLevelInput` of schema.graphql. */
export type RuleLevelInput = { all?: readonly (ConditionInput)[] | null | undefined; any?: readonly (ConditionInput)[] | null | undefined; severity: Severity };

/** `RuleNotifyInput` of schema.graphql. */
export type RuleNotifyInput = { endpointIds?: readonly (string)[] | null | undefined; endpointKeys?: readonly (string)[] | null | undefined; groupBy?: string | null | undefined; maxReminders?: number | null | undefined; remindEverySeconds?: number | null | undefined };

/** `ScheduleInput` of schema.graphql. */
export type ScheduleInput = { days?: readonly (string)[] | null | undefined; hours?: string | null | undefined; timeZone: string };

/** `Severity` of schema.graphql. */
export type Severity = 'CRITICAL' | 'INFO' | 'WARNING';

/** `TokenKind` of schema.graphql. */
export type TokenKind = 'INDIVIDUAL' | 'PERSONAL';

/** `TokenScope` of schema.graphql. */
export type TokenScope = 'ADMIN' | 'CONFIGURE' | 'READ' | 'RECORD';

/** `UpdateConfigurationFieldInput` of schema.graphql. */
export type UpdateConfigurationFieldInput = { default?: unknown; description?: string | null | undefined; name?: string | null | undefined };

/** `UpdateDeviceInput` of schema.graphql. */
export type UpdateDeviceInput = { fields?: readonly (FieldMoveInput)[] | null | undefined; location?: string | null | undefined; metadata?: unknown; name?: string | null | undefined; offlineAfterSeconds?: number | null | undefined; plan?: string | null | undefined; productId?: string | null | undefined; serialNumber?: string | null | undefined; tags?: readonly (string)[] | null | undefined };

/** `UpdateDevicesInput` of schema.graphql. */
export type UpdateDevicesInput = { addTags?: readonly (string)[] | null | undefined; location?: string | null | undefined; offlineAfterSeconds?: number | null | undefined; plan?: string | null | undefined; removeTags?: readonly (string)[] | null | undefined; tags?: readonly (string)[] | null | undefined };

/** `UpdateFieldInput` of schema.graphql. */
export type UpdateFieldInput = { description?: string | null | undefined; display?: unknown; meaning?: FieldMeaning | null | undefined; name?: string | null | undefined; overflowAt?: number | null | undefined; role?: FieldRole | null | undefined; type?: FieldType | null | undefined; unit?: string | null | undefined };

/** `UpdateProductInput` of schema.graphql. */
export type UpdateProductInput = { answer200?: boolean | null | undefined; dashboard?: unknown; ignoreZeroPlaces?: boolean | null | undefined; key?: string | null | undefined; name?: string | null | undefined; offlineAfterSeconds?: number | null | undefined; timeZone?: string | null | undefined; webhookAnswer?: WebhookAnswerInput | null | undefined };

/** `UpdateTokenInput` of schema.graphql. */
export type UpdateTokenInput = { deviceIds?: readonly (string)[] | null | undefined; expiresAt?: string | null | undefined; fields?: readonly (string)[] | null | undefined; name?: string | null | undefined; productIds?: readonly (string)[] | null | undefined };

/** `UpdateUserInput` of schema.graphql. */
export type UpdateUserInput = { email?: string | null | undefined; name?: string | null | undefined; operator?: boolean | null | undefined; password?: string | null | undefined };

/** `UplinkInput` of schema.graphql. */
export type UplinkInput = { bytes: string; deviceId?: string | null | undefined; port?: number | null | undefined; recvTime?: string | null | undefined; variables?: unknown };

/** `ValueConditionInput` of schema.graphql. */
export type ValueConditionInput = { field?: string | null | undefined; operator: ConditionOperator; role?: FieldRole | null | undefined; value: number | string | boolean };

/** `WebhookAnswerInput` of schema.graphql. */
export type WebhookAnswerInput = { body?: string | null | undefined; contentType?: string | null | undefined; status?: number | null | undefined };

/** `WriteRateSource` of schema.graphql. */
export type WriteRateSource = 'DEVICE' | 'PRODUCT' | 'SERVER' | 'WORKSPACE';

/** The name of every mutation. */
export const MUTATIONS = 'acceptInvitation acknowledgeAlert activateDecoder addConfigurationField addDecoderExample addField addNote adoptUnknownDevice adoptUnknownDevices applyConfiguration changePassword cloneProduct createDevices createEndpoint createInvitation createPasswordReset createProduct createRule createToken createUser createWorkspace deleteDashboard deleteDeviceView deleteDevices deleteEndpoint deleteMeasurements deleteProduct deleteRule deleteUser deleteWorkspace ignoreSuggestedField importDevices planConfiguration recordMeasurements removeConfigurationField removeDecoderExample removeField removeFieldAlias removeMember removeNote renameField renameWorkspace renewToken replaceDevice replayCalls resetPassword retryDeliveries revokeInvitation revokeToken rotateEndpointSecret rotateWebhook saveDashboard saveDecoder saveDeviceView setConfiguration setMember setWriteRate signIn snoozeAlert testDecoder testEndpoint testRule updateConfigurationField updateDevice updateDevices updateEndpoint updateField updateNote updateProduct updateRule updateToken updateUser'.split(' ');
