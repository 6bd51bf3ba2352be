import 'reflect-metadata';
import { registerEnumType } from 'type-graphql';
import { CONDITION_OPERATORS, SEVERITIES } from '../../domain/rules/definition.ts';
import { ALERT_STATES } from '../../domain/rules/judge-state.ts';
import { WRITE_RATE_SOURCES } from '../../domain/devices/write-rate-service.ts';
import { ON_EXISTING } from '../../domain/devices/device-wish.ts';
import { DEVICE_ORDERS } from '../../domain/devices/device-order.ts';
import { CONFIGURATION_TYPES } from '../../domain/entities/configuration-field.ts';
import { FIELD_MEANINGS, FIELD_ROLES, FIELD_TYPES } from '../../domain/entities/field.ts';
import { AGGREGATIONS, GAP_FILLS } from '../../domain/ports/series-request.ts';
import { CALL_STATUSES } from '../../domain/ports/store.ts';
import { NOTE_KINDS } from '../../domain/entities/device-note.ts';
import { DEVICE_TYPES } from '../../domain/entities/product.ts';
import { TOKEN_KINDS, TOKEN_SCOPES } from '../../domain/entities/token.ts';
import { ENDPOINT_KINDS } from '../../domain/entities/endpoint.ts';
import { ROLES } from '../../domain/entities/member.ts';
import { DELIVERY_STATUSES } from '../../domain/outgoing/delivery-rows.ts';

/** Each is the object by which type-graphql knows the enum: `@Field(() => FieldTypeEnum)`. */
export const FieldTypeEnum = enumOf('FieldType', FIELD_TYPES, 'What the values of a field are.', {
  FLOAT: 'A finite number; numeric texts and booleans (1 and 0) are converted.',
  INTEGER: 'A whole number; whole numeric texts and booleans (1 and 0) are converted.',
  BOOLEAN:
    'true or false; 1, 0 and the texts "true", "false", "1", "0", "on", "off", "open", "closed", "yes", "no" in any case are converted.',
  STRING: 'A text of up to 4,096 characters; numbers and booleans become their JSON text.',
  GEOLOCATION: 'A place as text, "(lat,lon)": latitude from -90 to 90, longitude from -180 to 180 degrees.',
});
export const FieldRoleEnum = enumOf('FieldRole', FIELD_ROLES, 'What a field stands for in a list of mixed products.', {
  PRIMARY: 'The value to show first.',
  SECONDARY: 'The value to show beside it.',
  BATTERY: 'The state of the battery.',
  SIGNAL: 'The strength of the radio signal.',
  LOCATION: 'Where the device is.',
});
export const FieldMeaningEnum = enumOf(
  'FieldMeaning',
  FIELD_MEANINGS,
  'What numbers of a field are; aggregations and DIFFERENCE follow it at once, whatever is stored. GAUGE if left out.',
  {
    GAUGE: 'What is read off, such as a temperature. DIFFERENCE forgives a fall of less than a tenth.',
    COUNTER:
      'Only rises, such as a meter of energy or pulses. A fall of less than a tenth is noise; a larger one a gap if the ' +
      'next value is at least what stood before, an overflow from the last tenth before overflowAt on, else a restart.',
    TOTAL: 'May run both ways, such as a net meter: DIFFERENCE is the last value minus the first.',
    ANGLE: 'A direction in degrees: its mean is that of directions, none is the smallest or largest.',
    STATE: 'Holds until the next value, as what is sent on change: AVG is by time, SUM is value times seconds.',
  },
);
export const DeviceTypeEnum = enumOf('DeviceType', DEVICE_TYPES, 'How the devices of a product send.', {
  API: 'By the record endpoint or through the webhook of the product.',
  LORAWAN: 'Through a LoRaWAN network, which names them by their EUI.',
  PARTICLE: 'Through Particle, which names them by their core id.',
});
export const DeviceOrderEnum = enumOf('DeviceOrder', DEVICE_ORDERS, 'By what a list of devices is ordered.', {
  CREATED: 'By the time of creation, oldest first.',
  NAME: 'By name, without regard to case.',
  LAST_HEARD: 'By when they were last heard of; those never heard of come first.',
});
export const OnExistingEnum = enumOf('OnExisting', ON_EXISTING, 'What happens to a device that is there already.', {
  FAIL: 'CONFLICT.',
  KEEP: 'It stays as it is.',
  UPDATE: 'It is changed to what is given; what is left out, and how its serial number is written, stays.',
});
export const TokenScopeEnum = enumOf('TokenScope', TOKEN_SCOPES, 'One right in a workspace; none includes another.', {
  READ: 'See products, devices, measurements and calls.',
  RECORD: 'Record measurements.',
  CONFIGURE: 'Create, change and delete products, devices and decoders; see webhook URLs.',
  ADMIN: 'Manage members, INDIVIDUAL tokens and settings of the workspace.',
});
export const TokenKindEnum = enumOf('TokenKind', TOKEN_KINDS, 'For whom a token acts.', {
  PERSONAL: 'Acts as its user, with the role of the user in each of the workspaces.',
  INDIVIDUAL: 'Belongs to one workspace and has its own scopes, perhaps only for some products or devices.',
});
export const RoleEnum = enumOf('Role', ROLES, 'What a member may do in a workspace.', {
  VIEWER: 'Scope READ.',
  EDITOR: 'Scopes READ, RECORD and CONFIGURE.',
  ADMIN: 'Every scope.',
});
export const AggregationEnum = enumOf('Aggregation', AGGREGATIONS, 'What stands for the values of one bucket.', {
  AVG:
    'Their mean; of booleans the share of true. Of a STATE by time as TIME_AVG, of an ANGLE the mean direction from 0 to ' +
    'below 360, null where directions cancel out. Not of strings and places.',
  TIME_AVG:
    'Their mean by time: each value counts for as long as it holds in the bucket, until the next one, the last until the ' +
    'end of the range or now. What held before comes in, so a bucket between two values is not empty. Not of strings and ' +
    'places.',
  MIN: 'The smallest; of booleans 0 or 1. Not of strings, places and an ANGLE.',
  MAX: 'The largest; of booleans 0 or 1. Not of strings, places and an ANGLE.',
  SUM:
    'Their sum; of booleans how many are true. Of a STATE each value times the seconds for which it holds, of booleans ' +
    'for how many seconds they are true. Not of strings and places.',
  COUNT: 'How many there are.',
  FIRST: 'The earliest.',
  LAST: 'The latest.',
  DIFFERENCE:
    'The last value minus the last of the bucket before; what a fall is worth says the meaning of the field (of a GAUGE ' +
    'one of less than a tenth is noise, any other a restart from 0; of an ANGLE it is the turn, the shorter way from ' +
    'value to value). Differences of neighbours add up to the difference of the whole. Not of strings and places.',
});
export const GapFillEnum = enumOf('GapFill', GAP_FILLS, 'What stands for an empty bucket.', {
  NULL: 'null.',
  NONE: 'Nothing: empty buckets are left out.',
  PREVIOUS: 'The bucket before; at the begin the value before `from`, but not for SUM, COUNT and DIFFERENCE.',
  LINEAR: 'A straight line between the buckets on both sides; numbers only.',
});
export const ConfigurationTypeEnum = enumOf(
  'ConfigurationType',
  CONFIGURATION_TYPES,
  'What the values of a configuration field are.',
  {
    NUMBER: 'A finite number.',
    STRING: 'A text of up to 4,096 characters.',
    BOOLEAN: 'true or false.',
  },
);
export const WriteRateSourceEnum = enumOf('WriteRateSource', WRITE_RATE_SOURCES, 'Where a write limit was set.', {
  DEVICE: 'For the device.',
  PRODUCT: 'For all devices of the product.',
  WORKSPACE: 'For all devices of the workspace.',
  SERVER: 'Nowhere: the default of the server, WRITE_RATE_PER_FIELD.',
});
export const NoteKindEnum = enumOf('NoteKind', NOTE_KINDS, 'What a note of a device tells of.', {
  WRITTEN: 'What somebody wrote.',
  REPLACED: 'It goes on with another sensor.',
  MOVED: 'It moved to another product.',
  CONFIGURED: 'Its configuration was changed.',
  CHANGED: 'Its serial number or plan was changed.',
});
export const CallStatusEnum = enumOf('CallStatus', CALL_STATUSES, 'What became of a logged call.', {
  STORED: 'Every entry was stored.',
  PARTLY_STORED: 'Some entries were stored, others refused.',
  NOTHING_STORED: 'There was nothing to store, or every entry was refused.',
  DECODER_FAILED: 'The decoder failed; the call can be replayed.',
  NO_DECODER: 'The product had no decoder; the call can be replayed.',
});
export const EndpointKindEnum = enumOf('EndpointKind', ENDPOINT_KINDS, 'How an endpoint is told of events.', {
  WEBHOOK: 'By signed requests (Standard Webhooks 1.0).',
  EMAIL: 'By mail, one for each event; needs the setting SMTP_URL.',
  ALERTMANAGER: "By the v2 API of Prometheus' Alertmanager; alerts alone.",
});
export const DeliveryStatusEnum = enumOf('DeliveryStatus', DELIVERY_STATUSES, 'What became of a delivery.', {
  WAITING: 'It is to be tried, perhaps again.',
  DELIVERED: 'The receiver has taken it.',
  DEAD: 'It was tried for three days, or could not be queued; retryDeliveries sends it again.',
});

export const SeverityEnum = enumOf('Severity', SEVERITIES, 'How bad it is.', {
  INFO: 'Good to know.',
  WARNING: 'Somebody should look.',
  CRITICAL: 'Somebody must act.',
});
export const AlertStateEnum = enumOf('AlertState', ALERT_STATES, 'How an alert stands.', {
  PENDING: 'Its rule is met, but not yet for long enough.',
  FIRING: 'Its rule is met, and has been for long enough.',
  RECOVERING: 'Its rule is not met any more, but not yet for long enough, or it waits to be acknowledged.',
  RESOLVED: 'It is over.',
});
export const ConditionOperatorEnum = enumOf(
  'ConditionOperator',
  CONDITION_OPERATORS,
  'How a condition compares a value with its operand, or a place with an area.',
  {
    GT: 'Greater than.',
    GTE: 'Greater than or equal to.',
    LT: 'Less than.',
    LTE: 'Less than or equal to.',
    EQ: 'Equal to.',
    NEQ: 'Not equal to.',
    CONTAINS: 'A text that has the operand in it, in the same case.',
    INSIDE: 'A place within the circle or polygon.',
    OUTSIDE: 'A place that is not within the circle or polygon.',
  },
);

function enumOf<Value extends string>(
  name: string,
  values: readonly Value[],
  description: string,
  meanings: Record<Value, string>,
): Record<Value, Value> {
  const enumObject = Object.fromEntries(values.map((value) => [value, value])) as Record<Value, Value>;
  const valuesConfig = Object.fromEntries(values.map((value) => [value, { description: meanings[value] }])) as Record<
    Value,
    { description: string }
  >;
  registerEnumType(enumObject, { name, description, valuesConfig });
  return enumObject;
}
