import 'reflect-metadata';
import { registerEnumType } from 'type-graphql';
import { DEVICE_ORDERS } from '../../domain/devices/device-list.ts';
import { FIELD_ROLES, FIELD_TYPES } from '../../domain/entities/field.ts';
import { CALL_STATUSES } from '../../domain/measurements/store.ts';
import { DEVICE_TYPES } from '../../domain/entities/product.ts';
import { TOKEN_KINDS, TOKEN_SCOPES } from '../../domain/entities/token.ts';
import { ROLES } from '../../domain/entities/member.ts';

export const AGGREGATIONS = ['AVG', 'MIN', 'MAX', 'SUM', 'COUNT', 'FIRST', 'LAST'] as const;
export type Aggregation = (typeof AGGREGATIONS)[number];
export const GAP_FILLS = ['NONE', 'NULL', 'PREVIOUS', 'LINEAR'] as const;
export type GapFill = (typeof GAP_FILLS)[number];

/** Each is the object by which type-graphql knows the enum: `@Field(() => FieldTypeEnum)`. */
export const FieldTypeEnum = enumOf('FieldType', FIELD_TYPES);
export const FieldRoleEnum = enumOf('FieldRole', FIELD_ROLES);
export const DeviceTypeEnum = enumOf('DeviceType', DEVICE_TYPES);
export const DeviceOrderEnum = enumOf('DeviceOrder', DEVICE_ORDERS);
export const TokenScopeEnum = enumOf('TokenScope', TOKEN_SCOPES);
export const TokenKindEnum = enumOf('TokenKind', TOKEN_KINDS);
export const RoleEnum = enumOf('Role', ROLES);
export const AggregationEnum = enumOf('Aggregation', AGGREGATIONS);
export const GapFillEnum = enumOf('GapFill', GAP_FILLS);
export const CallStatusEnum = enumOf('CallStatus', CALL_STATUSES);

function enumOf<Value extends string>(name: string, values: readonly Value[]): Record<Value, Value> {
  const enumObject = Object.fromEntries(values.map((value) => [value, value])) as Record<Value, Value>;
  registerEnumType(enumObject, { name });
  return enumObject;
}
