import 'reflect-metadata';
import { registerEnumType } from 'type-graphql';
import { DEVICE_ORDERS } from '../../domain/devices/device-list.ts';
import { CONFIGURATION_TYPES } from '../../domain/entities/configuration-field.ts';
import { FIELD_ROLES, FIELD_TYPES } from '../../domain/entities/field.ts';
import { AGGREGATIONS, GAP_FILLS } from '../../domain/measurements/series-request.ts';
import { CALL_STATUSES } from '../../domain/measurements/store.ts';
import { DEVICE_TYPES } from '../../domain/entities/product.ts';
import { TOKEN_KINDS, TOKEN_SCOPES } from '../../domain/entities/token.ts';
import { ROLES } from '../../domain/entities/member.ts';

/** Each is the object by which type-graphql knows the enum: `@Field(() => FieldTypeEnum)`. */
export const FieldTypeEnum = enumOf('FieldType', FIELD_TYPES);
export const FieldRoleEnum = enumOf('FieldRole', FIELD_ROLES);
export const DeviceTypeEnum = enumOf('DeviceType', DEVICE_TYPES);
export const DeviceOrderEnum = enumOf('DeviceOrder', DEVICE_ORDERS);
export const TokenScopeEnum = enumOf('TokenScope', TOKEN_SCOPES);
export const TokenKindEnum = enumOf('TokenKind', TOKEN_KINDS);
export const RoleEnum = enumOf('Role', ROLES);
export const AggregationEnum = enumOf(
  'Aggregation',
  AGGREGATIONS,
  'DIFFERENCE: last value minus the last of the bucket before; a falling counter counts as a restart from 0. ' +
    'Differences of neighbours add up to the difference of the whole.',
);
export const GapFillEnum = enumOf(
  'GapFill',
  GAP_FILLS,
  'NONE: empty buckets are left out. PREVIOUS looks back before `from`.',
);
export const ConfigurationTypeEnum = enumOf('ConfigurationType', CONFIGURATION_TYPES);
export const CallStatusEnum = enumOf('CallStatus', CALL_STATUSES);

function enumOf<Value extends string>(
  name: string,
  values: readonly Value[],
  description?: string,
): Record<Value, Value> {
  const enumObject = Object.fromEntries(values.map((value) => [value, value])) as Record<Value, Value>;
  registerEnumType(enumObject, { name, ...(description === undefined ? {} : { description }) });
  return enumObject;
}
