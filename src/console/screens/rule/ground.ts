import type { ConfigurationType } from '../../api/schema-types.ts';
import type { RuleField } from '../../rules/rules.graphql.ts';

/** The fields that conditions can name. */
export interface Ground {
  fields: readonly RuleField[];
  configurationFields: readonly { identifier: string; name: string | null; type: ConfigurationType }[];
}

/** A field as people call it. */
export function nameOf({ identifier, name }: { identifier: string; name: string | null }): string {
  return name ?? identifier;
}
