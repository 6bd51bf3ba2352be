import type { FieldType, ReadAs } from '../entities/field.ts';
import { fromStoredValue } from '../measurements/field-value.ts';
import type { StoredValue } from '../ports/store.ts';
import { placeOf } from './area.ts';
import type { Condition, Level, Threshold } from './definition.ts';

/** The fields and configuration fields of a product, for showing what its rules refer to. */
interface Shown {
  fields: readonly (ReadAs & { key: number; identifier: string })[];
  configuration: readonly { key: number; identifier: string }[];
}

/** A level as clients write it: `all` or `any`, the other one null. */
export function shownLevel({ severity, all, conditions }: Level, shown: Shown) {
  const list = conditions.map((condition) => shownCondition(condition, shown));
  return { severity, all: all ? list : null, any: all ? null : list };
}

/** A condition as clients write it, without what it does not have. */
function shownCondition(condition: Condition, { fields, configuration }: Shown): Record<string, unknown> {
  const fieldOf = (key: number | null) => fields.find((one) => one.key === key);
  const field = fieldOf(condition.field);
  const name = { field: field?.identifier };
  switch (condition.kind) {
    case 'absent':
      return { ...name, absentSeconds: condition.seconds };
    case 'place': {
      const { operator, area } = condition;
      return 'corners' in area
        ? { ...name, operator, polygon: area.corners.map(placeOf) }
        : { ...name, operator, circle: { center: placeOf(area.center), meters: area.meters } };
    }
    case 'changed': {
      const type = field?.type ?? 'STRING';
      return { ...name, from: shownValue(type, condition.from), to: shownValue(type, condition.to) };
    }
    case 'threshold': {
      const { operator, operand, clear, window } = condition;
      const type = comparedType(condition, field?.type ?? 'FLOAT');
      return {
        ...name,
        operator,
        value: 'value' in operand ? shownValue(type, operand.value) : undefined,
        otherField: 'field' in operand ? fieldOf(operand.field)?.identifier : undefined,
        configurationField:
          'configuration' in operand
            ? configuration.find((one) => one.key === operand.configuration)?.identifier
            : undefined,
        clear: shownValue(type, clear),
        window: window ?? undefined,
      };
    }
  }
}

/** The values of a change by the identifiers of their fields; those of removed fields are left out. */
export function shownValues(values: Readonly<Record<string, StoredValue>>, { fields }: Shown): Record<string, unknown> {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value = values[field.key];
      return value === undefined ? [] : [[field.identifier, fromStoredValue(field, value)]];
    }),
  );
}

/** Aggregations of a window are numbers, but for the first and last value; whole numbers are compared with any. */
function comparedType({ window }: Threshold, type: FieldType): FieldType {
  const isValue = window === null || window.aggregation === 'FIRST' || window.aggregation === 'LAST';
  return isValue && type !== 'INTEGER' ? type : 'FLOAT';
}

function shownValue(type: FieldType, value: StoredValue | null): unknown {
  return value === null ? undefined : fromStoredValue({ type }, value);
}
