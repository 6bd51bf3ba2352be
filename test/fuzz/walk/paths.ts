import {
  getNamedType,
  getNullableType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  isListType,
  isObjectType,
} from 'graphql';

/** One field on the way to a type; `variant`: which of the ways to give its arguments. */
export interface Hop {
  parent: GraphQLObjectType;
  field: GraphQLField<unknown, unknown>;
  variant: number;
}

/** From a root to an object of the type that the last hop answers with. */
export type Path = readonly Hop[];

/** Lists in lists that are gone into: deeper ones are paid for by shorter pages. */
const MOST_LISTS = 2;

/** All object types but those of introspection. */
export function objectTypes(schema: GraphQLSchema): GraphQLObjectType[] {
  return Object.values(schema.getTypeMap()).filter(
    (type): type is GraphQLObjectType => isObjectType(type) && !type.name.startsWith('__'),
  );
}

/** `Type.field`. */
export function nameOf(parent: { name: string }, field: { name: string }): string {
  return `${parent.name}.${field.name}`;
}

/** The object type that a field answers with; null: a value. */
export function objectOf({ type }: GraphQLField<unknown, unknown>): GraphQLObjectType | null {
  const named = getNamedType(type);
  return isObjectType(named) ? named : null;
}

/** Whether a field answers with a list. */
export function isList({ type }: GraphQLField<unknown, unknown>): boolean {
  return isListType(getNullableType(type));
}

/** The shortest paths from a root to each type that can be reached from it: through no list, through one and through two. */
export function pathsFrom(root: GraphQLObjectType): Map<string, Path[]> {
  const found = new Map<string, Path>([[`${root.name} 0`, []]]);
  const paths = new Map<string, Path[]>([[root.name, [[]]]]);
  // Grows while it is gone through: nearer ones come first.
  const next: { type: GraphQLObjectType; path: Path; lists: number }[] = [{ type: root, path: [], lists: 0 }];
  for (const { type, path, lists } of next)
    for (const field of Object.values(type.getFields())) {
      const inner = objectOf(field);
      const deep = lists + Number(isList(field));
      if (inner === null || deep > MOST_LISTS || found.has(`${inner.name} ${deep}`)) continue;
      const way = [...path, { parent: type, field, variant: 0 }];
      found.set(`${inner.name} ${deep}`, way);
      paths.set(inner.name, [...(paths.get(inner.name) ?? []), way]);
      next.push({ type: inner, path: way, lists: deep });
    }
  return paths;
}
