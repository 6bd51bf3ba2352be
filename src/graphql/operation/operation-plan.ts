import {
  type DirectiveNode,
  type FieldNode,
  type FragmentDefinitionNode,
  getDirectiveValues,
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
  visit,
} from 'graphql';

/** How a value of the answer is made from what a resolver gave; `isPlain`: below it nothing is resolved any more. */
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
  /** Of `__typename`: the answer itself; else null. */
  constant: string | null;
  type: PlannedType;
}

/** What a plan is made of. */
export interface PlanSource {
  schema: GraphQLSchema;
  fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  operation: OperationDefinitionNode;
}

/** The variables that decide what is left out; there is one plan for each of their combinations. */
export function deciders({ operation, fragments }: PlanSource): string[] {
  const names = new Set<string>();
  const collect = {
    Directive({ arguments: given = [] }: DirectiveNode): void {
      for (const { value } of given) if (value.kind === Kind.VARIABLE) names.add(value.name.value);
    },
  };
  visit(operation.selectionSet, collect);
  for (const fragment of fragments.values()) visit(fragment.selectionSet, collect);
  return [...names];
}

/**
 * The fields of the operation, found once for all its runs. null when it holds what is not planned: abstract types, and
 * names that an object cannot have as its own.
 */
export function planOperation(source: PlanSource, variables: Record<string, unknown>): readonly PlannedField[] | null {
  const root = source.schema.getRootType(source.operation.operation);
  return root ? new Planning(source, variables).fields(root, [source.operation.selectionSet]) : null;
}

/** How many fields there are in a plan, at all levels. */
export function plannedFields(fields: readonly PlannedField[]): number {
  let sum = fields.length;
  for (let { type } of fields) {
    while (type.kind === 'list') type = type.item;
    if (type.kind === 'object') sum += plannedFields(type.fields);
  }
  return sum;
}

/** How many fields are asked for below each item of a list. */
export interface FieldsBelow {
  /** With those of objects that may be null, lists counted as one item. */
  most: number;
  /** Those that are in the answer whatever comes. */
  least: number;
}

/** Of what is not planned: as many as an operation may have. */
const UNKNOWN: FieldsBelow = { most: 3000, least: 0 };

/** Those below the field that is resolved. */
export function fieldsBelow(info: GraphQLResolveInfo): FieldsBelow {
  const type = typeBelow(info);
  if (type === null) return UNKNOWN;
  return type.kind === 'object' ? { most: plannedFields(type.fields), least: sureFields(type) } : { most: 0, least: 0 };
}

/** Whether one of the names is asked for of each object that the field gives; of what is not planned it may be. */
export function asksFor(info: GraphQLResolveInfo, names: readonly string[]): boolean {
  const type = typeBelow(info);
  return type === null || (type.kind === 'object' && type.fields.some(({ name }) => names.includes(name)));
}

function typeBelow(info: GraphQLResolveInfo): PlannedType | null {
  const { schema, fragments, operation, returnType, fieldNodes, variableValues } = info;
  const source = { schema, operation, fragments: new Map(Object.entries(fragments)) };
  let type = new Planning(source, variableValues).type(
    returnType,
    fieldNodes.flatMap(({ selectionSet }) => selectionSet ?? []),
  );
  while (type?.kind === 'list') type = type.item;
  return type;
}

function sureFields(type: PlannedType): number {
  if (type.kind !== 'object' || !type.nonNull) return 0;
  return type.fields.reduce((sum, field) => sum + 1 + sureFields(field.type), 0);
}

/** Names of the fields that @skip and @include leave of the operation itself; throws where they have no argument. */
export function fieldsLeft(source: PlanSource, variables: Record<string, unknown>): string[] {
  const root = source.schema.getRootType(source.operation.operation);
  if (!root) return [];
  const found = new Planning(source, variables).found(root, [source.operation.selectionSet]);
  return [...found.values()].map(([node]) => node!.name.value);
}

class Planning {
  readonly #source: PlanSource;
  readonly #variables: Record<string, unknown>;

  constructor(source: PlanSource, variables: Record<string, unknown>) {
    this.#source = source;
    this.#variables = variables;
  }

  fields(type: GraphQLObjectType, sets: readonly SelectionSetNode[]): readonly PlannedField[] | null {
    const fields: PlannedField[] = [];
    for (const [key, nodes] of this.found(type, sets)) {
      const field = this.#field(type, key, nodes);
      if (field === null) return null;
      fields.push(field);
    }
    return fields;
  }

  /** What is asked, by the names in the answer. */
  found(type: GraphQLObjectType, sets: readonly SelectionSetNode[]): ReadonlyMap<string, readonly FieldNode[]> {
    const found = new Map<string, FieldNode[]>();
    const seen = new Set<string>();
    for (const set of sets) this.#collect(type, set, found, seen);
    return found;
  }

  #field(parentType: GraphQLObjectType, key: string, nodes: readonly FieldNode[]): PlannedField | null {
    const name = nodes[0]!.name.value;
    const definition = this.#definition(parentType, name);
    if (definition === undefined || key === '__proto__') return null;
    const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    const type = this.type(definition.type, sets);
    if (type === null) return null;
    const constant = definition === TypeNameMetaFieldDef ? parentType.name : null;
    const resolve = constant === null ? (definition.resolve ?? null) : null;
    return { key, name, nodes, parentType, definition, resolve, constant, type };
  }

  #definition(parentType: GraphQLObjectType, name: string): GraphQLField<unknown, unknown> | undefined {
    if (name === TypeNameMetaFieldDef.name) return TypeNameMetaFieldDef;
    if (parentType === this.#source.schema.getQueryType()) {
      if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef;
      if (name === TypeMetaFieldDef.name) return TypeMetaFieldDef;
    }
    return parentType.getFields()[name];
  }

  type(type: GraphQLOutputType, sets: readonly SelectionSetNode[]): PlannedType | null {
    const nonNull = isNonNullType(type);
    const inner = nonNull ? type.ofType : type;
    if (isLeafType(inner))
      return { kind: 'leaf', nonNull, isPlain: true, serialize: (value) => inner.serialize(value) };
    if (isListType(inner)) {
      const item = this.type(inner.ofType, sets);
      return item && { kind: 'list', nonNull, isPlain: item.isPlain, item };
    }
    if (!isObjectType(inner) || inner.isTypeOf) return null;
    const fields = this.fields(inner, sets);
    const isPlain = fields?.every((field) => field.resolve === null && field.type.isPlain);
    return fields && { kind: 'object', nonNull, isPlain: isPlain === true, fields };
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
