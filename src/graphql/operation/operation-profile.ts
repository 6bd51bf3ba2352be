import {
  type FieldNode,
  getNamedType,
  type GraphQLCompositeType,
  type GraphQLField,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  Kind,
  OperationTypeNode,
  SchemaMetaFieldDef,
  type SelectionNode,
  type SelectionSetNode,
  TypeMetaFieldDef,
  type ValueNode,
} from 'graphql';
import { must } from '../../must.ts';
import { isBounded, isWithinLimits, type ListArgument, type OperationInputs } from './input-limits.ts';
import { LEAF, LEAF_OF_MUTATION, onceEach, type Price, priceOfField, sumOf } from './operation-cost.ts';
import type { PlanSource } from './operation-plan.ts';

/** All that admission needs to know of an operation, whatever its variables: found in one walk. */
export interface OperationProfile extends OperationInputs {
  /** Names of the fields of the root type. */
  rootFields: ReadonlySet<string>;
  /** Variables that decide about @skip and @include. */
  deciders: readonly string[];
  /** The variable that only says where a subscription begins; null: there is none. */
  beginning: string | null;
  price: Price;
  /** Number of fields that were walked. */
  fields: number;
}

/** Walks once over an operation of a validated document, and over each fragment that it reaches. */
export function profileOf(source: PlanSource): OperationProfile {
  const { operation } = source;
  const walk = new Walk(source);
  const price = walk.ofSet(operation.selectionSet, walk.root);
  const after = operation.operation === OperationTypeNode.SUBSCRIPTION ? afterOf(operation.selectionSet) : null;
  return {
    rootFields: walk.rootFields,
    lists: [...walk.lists.values()],
    repeats: walk.repeats,
    deciders: [...walk.deciders],
    beginning: after !== null && walk.uses.get(after) === 1 ? after : null,
    price,
    fields: walk.fields,
  };
}

/** The variable given as `after` to the first field. */
function afterOf({ selections: [field] }: SelectionSetNode): string | null {
  if (field?.kind !== Kind.FIELD) return null;
  const after = field.arguments?.find(({ name }) => name.value === 'after')?.value;
  return after?.kind === Kind.VARIABLE ? after.name.value : null;
}

class Walk {
  readonly root: GraphQLCompositeType;
  readonly rootFields = new Set<string>();
  /** By what tells them apart: a variable given to the same argument of several fields is looked at once. */
  readonly lists = new Map<unknown, ListArgument>();
  readonly uses = new Map<string, number>();
  readonly repeats = new Map<string, number>();
  readonly deciders = new Set<string>();
  fields = 0;
  readonly #source: PlanSource;
  readonly #isMutation: boolean;
  /** Prices of fragments, so that a bomb of fragments costs no more time than its text. */
  readonly #known = new Map<string, Price>();

  constructor(source: PlanSource) {
    const { operation } = source.operation;
    this.root = must(source.schema.getRootType(operation));
    this.#source = source;
    this.#isMutation = operation === OperationTypeNode.MUTATION;
  }

  ofSet({ selections }: SelectionSetNode, type: GraphQLCompositeType): Price {
    return sumOf(selections.map((selection) => this.#ofSelection(selection, type)));
  }

  #ofSelection(selection: SelectionNode, type: GraphQLCompositeType): Price {
    for (const { arguments: given = [] } of selection.directives ?? [])
      for (const { value } of given) {
        if (value.kind === Kind.VARIABLE) this.deciders.add(value.name.value);
        this.#hasVariable(value);
      }
    if (selection.kind === Kind.FIELD) return this.#ofField(selection, type);
    if (selection.kind === Kind.FRAGMENT_SPREAD) return this.#ofFragment(selection.name.value, type);
    return this.ofSet(selection.selectionSet, this.#condition(selection.typeCondition?.name.value, type));
  }

  #ofFragment(name: string, type: GraphQLCompositeType): Price {
    let price = this.#known.get(name);
    if (price !== undefined) return price;
    const fragment = this.#source.fragments.get(name);
    price =
      fragment === undefined
        ? 0
        : onceEach(this.ofSet(fragment.selectionSet, this.#condition(fragment.typeCondition.name.value, type)));
    this.#known.set(name, price);
    return price;
  }

  #condition(name: string | undefined, otherwise: GraphQLCompositeType): GraphQLCompositeType {
    const type = name === undefined ? undefined : this.#source.schema.getType(name);
    return type !== undefined && isCompositeType(type) ? type : otherwise;
  }

  #ofField(node: FieldNode, parent: GraphQLCompositeType): Price {
    this.fields += 1;
    if (parent === this.root) this.rootFields.add(node.name.value);
    const field = definitionOf(node, parent);
    const leaf = this.#isMutation ? LEAF_OF_MUTATION : LEAF;
    // `__typename` has no arguments, and nothing below.
    if (field === undefined) return leaf;
    const isFixed = this.#areFixed(node, field);
    const type = getNamedType(field.type);
    const inner = node.selectionSet && isCompositeType(type) ? this.ofSet(node.selectionSet, type) : 0;
    const isMutation = this.#isMutation && parent === this.root;
    return priceOfField({ node, field, parent, isMutation, isFixed, leaf }, inner);
  }

  /** Whether no variable stands in the field's arguments, which it notes. */
  #areFixed(node: FieldNode, field: GraphQLField<unknown, unknown>): boolean {
    let isFixed = true;
    for (const { name, value } of node.arguments ?? []) {
      const hasVariable = this.#hasVariable(value);
      if (hasVariable) isFixed = false;
      const type = field.args.find((arg) => arg.name === name.value)?.type;
      if (type === undefined || !isBounded(type)) continue;
      const list = { field: field.name, name: name.value, type, value };
      // Looked at once and for all.
      if (!hasVariable && isWithinLimits(list)) continue;
      this.lists.set(value.kind === Kind.VARIABLE ? `${field.name} ${name.value} ${value.name.value}` : value, list);
    }
    return isFixed;
  }

  /** Whether a variable stands in it; counts all. */
  #hasVariable(value: ValueNode, isInside = false): boolean {
    if (value.kind === Kind.VARIABLE) {
      const name = value.name.value;
      this.uses.set(name, (this.uses.get(name) ?? 0) + 1);
      if (isInside) this.repeats.set(name, (this.repeats.get(name) ?? 0) + 1);
      return true;
    }
    let found = false;
    if (value.kind === Kind.LIST) for (const item of value.values) found = this.#hasVariable(item, true) || found;
    else if (value.kind === Kind.OBJECT)
      for (const part of value.fields) found = this.#hasVariable(part.value, true) || found;
    return found;
  }
}

function definitionOf(
  { name: { value: name } }: FieldNode,
  parent: GraphQLCompositeType,
): GraphQLField<unknown, unknown> | undefined {
  if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef;
  if (name === TypeMetaFieldDef.name) return TypeMetaFieldDef;
  return isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name] : undefined;
}
