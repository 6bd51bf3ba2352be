import type { GraphQLField, GraphQLInputType, GraphQLObjectType } from 'graphql';
import { MUTATION_WAYS } from './mutation-ways.ts';
import { OUTPUT_WAYS } from './output-ways.ts';
import { nameOf, objectOf, type Path } from './paths.ts';
import { SUBSCRIPTION_WAYS } from './subscription-ways.ts';
import { type Args, valueFor } from './ways.ts';
import type { World } from './world.ts';

/** What is sent. */
export interface Operation {
  query: string;
  variables: Record<string, unknown>;
}

/** How one field is asked for many times. */
export type Form = 'plain' | 'fragments' | 'directives';

/** How wide: under so many names, of pages of so many. */
export interface Width {
  names: number;
  first: number;
}

/** What is asked of an object under a field: its first value, or all of them. */
export type Inner = 'one' | 'all';

/** How a field is asked for; `args` instead of those that the tables know. */
interface Asked {
  variant: number;
  form: Form;
  inner: Inner;
  names: number;
  args?: Args;
}

const SPREADS = 19;
const MOST_DIRECTIVES = 95;

/** Writes an operation down; each value is a variable of its own, and equal ones are one. */
export class Writing {
  readonly #world: World;
  readonly #first: number;
  readonly #declared = new Map<string, { name: string; type: GraphQLInputType | string; value: unknown }>();
  /** What the mutation or subscription at the root is given. */
  readonly #rootArgs: Args;

  constructor(world: World, first: number, rootArgs: Args = {}) {
    this.#world = world;
    this.#first = first;
    this.#rootArgs = rootArgs;
  }

  /** The path, with `inner` selected of what it leads to. */
  along(path: Path, inner: string): string {
    return path.reduceRight((below, { parent, field, variant }) => {
      return `{ ${field.name}${this.#args(parent, field, variant, 0)} ${below} }`;
    }, inner);
  }

  /** The field under many names. */
  many(
    type: GraphQLObjectType,
    field: GraphQLField<unknown, unknown>,
    asked: Asked,
  ): { inner: string; fragments: string } {
    const { variant, names, form, args } = asked;
    const below = this.#below(field, asked.inner);
    const one = (at: number, directive = ''): string =>
      `a${at}: ${field.name}${this.#args(type, field, variant, at, args)}${directive} ${below}`;
    if (form === 'plain') return { inner: `{ ${list(names, one).join(' ')} }`, fragments: '' };
    if (form === 'directives') {
      const yes = this.variable('Boolean!', true);
      const no = this.variable('Boolean!', false);
      const directive = (at: number): string =>
        at >= MOST_DIRECTIVES ? '' : at % 2 === 0 ? ` @include(if: ${yes})` : ` @skip(if: ${no})`;
      return { inner: `{ ${list(names, (at) => one(at, directive(at))).join(' ')} }`, fragments: '' };
    }
    // The same few names again and again: they are one answer, but have to be put together for each object.
    const few = Math.max(1, Math.floor(names / SPREADS));
    return {
      inner: `{ ${list(SPREADS, () => '...F').join(' ')} }`,
      fragments: ` fragment F on ${type.name} { ${list(few, (at) => one(at)).join(' ')} __typename }`,
    };
  }

  variable(type: GraphQLInputType | string, value: unknown): string {
    const key = `${String(type)} ${JSON.stringify(value)}`;
    const known = this.#declared.get(key);
    if (known !== undefined) return `$${known.name}`;
    const name = `v${this.#declared.size}`;
    this.#declared.set(key, { name, type, value });
    return `$${name}`;
  }

  done(kind: 'query' | 'mutation' | 'subscription', body: string): Operation {
    const all = [...this.#declared.values()];
    const declared = all.map(({ name, type }) => `$${name}: ${String(type)}`).join(' ');
    return {
      query: `${kind}${declared === '' ? '' : ` (${declared})`} ${body}`,
      variables: Object.fromEntries(all.map(({ name, value }) => [name, value])),
    };
  }

  #below(field: GraphQLField<unknown, unknown>, inner: Inner): string {
    const type = objectOf(field);
    if (type === null) return '';
    // Of a page its items.
    const edges = type.getFields()['edges'];
    if (edges !== undefined) {
      const node = objectOf(edges)!.getFields()['node']!;
      return `{ edges { node ${this.#below(node, inner)} } }`;
    }
    const values = Object.values(type.getFields()).filter((one) => objectOf(one) === null && one.args.length === 0);
    if (values.length > 0)
      return `{ ${(inner === 'one' ? values.slice(0, 1) : values).map(({ name }) => name).join(' ')} }`;
    const objects = Object.values(type.getFields()).filter((one) => one.args.length === 0);
    return `{ ${objects[0]!.name} ${this.#below(objects[0]!, inner)} }`;
  }

  #args(
    parent: GraphQLObjectType,
    field: GraphQLField<unknown, unknown>,
    variant: number,
    alias: number,
    own?: Args,
  ): string {
    const isRoot = parent.name === 'Mutation' || parent.name === 'Subscription';
    const args = own ?? (isRoot ? this.#rootArgs : (argsOf(this.#world, parent, field)[variant] ?? {}));
    const given = Object.entries(args).map(([name, value]) => {
      const { type } = field.args.find((arg) => arg.name === name)!;
      return `${name}: ${this.variable(type, valueFor(value, alias, this.#first))}`;
    });
    return given.length === 0 ? '' : `(${given.join(', ')})`;
  }
}

/** Every way to give the arguments of a field that the tables know; `[{}]` of one that has none. */
export function argsOf(
  world: World,
  parent: GraphQLObjectType,
  field: GraphQLField<unknown, unknown>,
  made?: unknown,
): Args[] {
  const known =
    parent.name === 'Mutation'
      ? MUTATION_WAYS[field.name]?.args(world, made)
      : parent.name === 'Subscription'
        ? SUBSCRIPTION_WAYS[field.name]?.args(world)
        : OUTPUT_WAYS[nameOf(parent, field)]?.(world);
  return known ?? [{}];
}

function list<Item>(length: number, item: (at: number) => Item): Item[] {
  return Array.from({ length }, (_, at) => item(at));
}
