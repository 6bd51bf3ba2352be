import {
  type FieldNode,
  type FragmentDefinitionNode,
  getDirectiveValues,
  getNamedType,
  type GraphQLField,
  type GraphQLFieldResolver,
  GraphQLIncludeDirective,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  GraphQLSkipDirective,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
} from 'graphql';
import { must } from '../../must.ts';

/** Makes a value of the answer from a resolver's; `isPlain`: nothing below it is resolved any more. */
export type PlannedType = { nonNull: boolean; isPlain: boolean } & (
  | { kind: 'leaf'; serialize: (value: unknown) => unknown }
  | { kind: 'list'; item: PlannedType }
  | { kind: 'object'; fields: readonly PlannedField[] }
);

/** One field of the answer. */
export interface PlannedField {
  /** Its name in the answer, and in the parent. */
  key: string;
  name: string;
  nodes: readonly FieldNode[];
  parentType: GraphQLObjectType;
  definition: GraphQLField<unknown, unknown>;
  /** null: the parent's property of its name. */
  resolve: GraphQLFieldResolver<unknown, unknown> | null;
  /** The answer of a `__typename`; else null. */
  constant: string | null;
  type: PlannedType;
}

/** The sources of a plan. */
export interface PlanSource {
  schema: GraphQLSchema;
  fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  operation: OperationDefinitionNode;
}

/** Plans the fields of an operation of a validated document. Throws where a directive has no argument. */
export function planOperation(source: PlanSource, variables: Record<string, unknown>): readonly PlannedField[] {
  const { schema, operation } = source;
  return new Planning(source, variables).fields(must(schema.getRootType(operation.operation)), [
    operation.selectionSet,
  ]);
}

/** Number of fields in a plan, at all levels. */
export function plannedFields(fields: readonly PlannedField[]): number {
  let sum = fields.length;
  for (let { type } of fields) {
    while (type.kind === 'list') type = type.item;
    if (type.kind === 'object') sum += plannedFields(type.fields);
  }
  return sum;
}

/** Whether one of the names is selected on the objects that the field gives. */
export function asksFor(info: GraphQLResolveInfo, names: readonly string[]): boolean {
  const { schema, fragments, operation, returnType, fieldNodes, variableValues } = info;
  const source = { schema, operation, fragments: new Map(Object.entries(fragments)) };
  const sets = fieldNodes.flatMap(({ selectionSet }) => selectionSet ?? []);
  const found = new Planning(source, variableValues).found(getNamedType(returnType) as GraphQLObjectType, sets);
  return [...found.values()].some(([node]) => names.includes(must(node).name.value));
}

/** Names of the fields that @skip and @include leave of the operation itself; throws where they have no argument. */
export function fieldsLeft(source: PlanSource, variables: Record<string, unknown>): string[] {
  const root = source.schema.getRootType(source.operation.operation);
  if (!root) return [];
  const found = new Planning(source, variables).found(root, [source.operation.selectionSet]);
  return [...found.values()].map(([node]) => must(node).name.value);
}

class Planning {
  readonly #source: PlanSource;
  readonly #variables: Record<string, unknown>;

  constructor(source: PlanSource, variables: Record<string, unknown>) {
    this.#source = source;
    this.#variables = variables;
  }

  fields(type: GraphQLObjectType, sets: readonly SelectionSetNode[]): readonly PlannedField[] {
    return [...this.found(type, sets)].map(([key, nodes]) => this.#field(type, key, nodes));
  }

  /** The selected fields, by their names in the answer. */
  found(type: GraphQLObjectType, sets: readonly SelectionSetNode[]): ReadonlyMap<string, readonly FieldNode[]> {
    const found = new Map<string, FieldNode[]>();
    const seen = new Set<string>();
    for (const set of sets) this.#collect(type, set, found, seen);
    return found;
  }

  #field(parentType: GraphQLObjectType, key: string, nodes: readonly FieldNode[]): PlannedField {
    const name = must(nodes[0]).name.value;
    const definition = this.#definition(parentType, name);
    const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    const type = this.#type(definition.type, sets);
    const constant = definition === TypeNameMetaFieldDef ? parentType.name : null;
    const resolve = constant === null ? (definition.resolve ?? null) : null;
    return { key, name, nodes, parentType, definition, resolve, constant, type };
  }

  #definition(parentType: GraphQLObjectType, name: string): GraphQLField<unknown, unknown> {
    if (name === TypeNameMetaFieldDef.name) return TypeNameMetaFieldDef;
    if (parentType === this.#source.schema.getQueryType()) {
      if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef;
      if (name === TypeMetaFieldDef.name) return TypeMetaFieldDef;
    }
    return must(parentType.getFields()[name]);
  }

  #type(type: GraphQLOutputType, sets: readonly SelectionSetNode[]): PlannedType {
    const nonNull = isNonNullType(type);
    const inner = nonNull ? type.ofType : type;
    if (isLeafType(inner))
      return { kind: 'leaf', nonNull, isPlain: true, serialize: (value) => inner.serialize(value) };
    if (isListType(inner)) {
      const item = this.#type(inner.ofType, sets);
      return { kind: 'list', nonNull, isPlain: item.isPlain, item };
    }
    if (!isObjectType(inner)) throw new Error(`${String(inner)} is abstract, and plans know no abstract types.`);
    const fields = this.fields(inner, sets);
    const isPlain = fields.every((field) => field.resolve === null && field.type.isPlain);
    return { kind: 'object', nonNull, isPlain, fields };
  }

  #collect(type: GraphQLObjectType, set: SelectionSetNode, found: Map<string, FieldNode[]>, seen: Set<string>): void {
    for (const selection of set.selections) {
      if (this.#isLeftOut(selection)) continue;
      if (selection.kind === Kind.FIELD) {
        const key = (selection.alias ?? selection.name).value;
        const before = found.get(key);
        if (before === undefined) found.set(key, [selection]);
        else before.push(selection);
        continue;
      }
      let part: Pick<FragmentDefinitionNode, 'selectionSet'> & { typeCondition?: { name: { value: string } } };
      if (selection.kind === Kind.INLINE_FRAGMENT) part = selection;
      else {
        const fragment = this.#source.fragments.get(selection.name.value);
        if (fragment === undefined || seen.has(selection.name.value)) continue;
        seen.add(selection.name.value);
        part = fragment;
      }
      const wanted = part.typeCondition?.name.value;
      if (wanted === undefined || wanted === type.name) this.#collect(type, part.selectionSet, found, seen);
    }
  }

  #isLeftOut(node: SelectionSetNode['selections'][number]): boolean {
    if (node.directives === undefined || node.directives.length === 0) return false;
    return (
      getDirectiveValues(GraphQLSkipDirective, node, this.#variables)?.['if'] === true ||
      getDirectiveValues(GraphQLIncludeDirective, node, this.#variables)?.['if'] === false
    );
  }
}
