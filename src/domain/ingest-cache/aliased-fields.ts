/** The names of a field. */
interface Named {
  key: number;
  identifier: string;
}

/** The fields of a product by identifier, which are also found under their earlier ones; a list of them has none twice. */
class AliasedFields<Field> extends Map<string, Field> {
  /** Earlier identifier → field. */
  readonly aliases: ReadonlyMap<string, Field>;

  constructor(fields: Iterable<readonly [string, Field]>, aliases: ReadonlyMap<string, Field>) {
    super(fields);
    this.aliases = aliases;
  }

  override get(identifier: string): Field | undefined {
    return super.get(identifier) ?? this.aliases.get(identifier);
  }

  override has(identifier: string): boolean {
    return super.has(identifier) || this.aliases.has(identifier);
  }
}

/** The fields by identifier; `aliases`: earlier identifier → key of the field. */
export function fieldsByName<Field extends Named>(
  fields: readonly Field[],
  aliases: readonly { identifier: string; fieldKey: number }[],
): Map<string, Field> {
  const byKey = new Map(fields.map((field) => [field.key, field]));
  const named = fields.map((field) => [field.identifier, field] as const);
  const earlier = aliases.flatMap(({ identifier, fieldKey }) => {
    const field = byKey.get(fieldKey);
    return field === undefined ? [] : [[identifier, field] as const];
  });
  return earlier.length === 0 ? new Map(named) : new AliasedFields(named, new Map(earlier));
}

/** Earlier identifier → field. */
export function aliasesIn<Field>(fields: ReadonlyMap<string, Field>): ReadonlyMap<string, Field> {
  return fields instanceof AliasedFields ? (fields as AliasedFields<Field>).aliases : new Map<string, Field>();
}
