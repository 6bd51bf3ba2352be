import { type MeasuredValue, valueText } from '../parts/value-text.ts';
import type { RuleField } from './rules.graphql.ts';

type Named = Pick<RuleField, 'identifier' | 'name' | 'unit'>;

/** The values by which something was judged, which are by the identifiers of their fields. */
export function judgedText(values: unknown, fields: readonly Named[]): string {
  const found = Object.entries((values ?? {}) as Record<string, MeasuredValue>);
  return found
    .map(([identifier, value]) => {
      const field = fields.find((one) => one.identifier === identifier);
      return `${field?.name ?? identifier} ${valueText(value, field?.unit)}`;
    })
    .join(', ');
}
