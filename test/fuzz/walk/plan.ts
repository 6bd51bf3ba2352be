import { getNamedType, type GraphQLField, type GraphQLObjectType, type GraphQLSchema, isLeafType } from 'graphql';
import { MUTATION_WAYS } from './mutation-ways.ts';
import { argsOf, type Form, type Inner, type Operation, type Width, Writing } from './operation.ts';
import { isList, nameOf, objectOf, objectTypes, type Path, pathsFrom } from './paths.ts';
import { SUBSCRIPTION_WAYS } from './subscription-ways.ts';
import { FIRST, type MutationWay, type SubscriptionWay } from './ways.ts';
import { type Worst, worstOf } from './worst.ts';
import type { World } from './world.ts';

/** One thing to ask, as wide as it is allowed. */
export interface Step {
  name: string;
  /** `Type.field` of what it asks for. */
  covers: readonly string[];
  /** The widest first. */
  widths: readonly Width[];
  /** Narrower pages with more names are another thing; else the widest that is allowed is all. */
  eachPage: boolean;
  /** `made`: what the mutation's `make` made. */
  write: (width: Width, made?: unknown) => Operation;
  mutation?: MutationWay;
  subscription?: SubscriptionWay;
}

/** As many as a document may have, and of a field with equal arguments. */
const NAMES = [30, 10, 3, 1];
const PAGES = [500, 50, 1];
const ROOTS = [20, 3];
const ONE: Width = { names: 1, first: 50 };

/**
 * All there is to ask, what matters most first: each field of each type on the shortest paths, mutations and subscriptions
 * with each field of what they answer; then other forms and variants; each argument at its worst; all other ways to a type.
 */
export function planOf(schema: GraphQLSchema, world: World): Step[] {
  const plan = new Planning(schema, world);
  return [
    ...plan.outputs((paths) => paths, ['plain'], 'one', true),
    ...plan.roots(),
    ...plan.outputs((paths) => paths.slice(-1), ['fragments', 'directives'], 'one', false),
    ...plan.outputs((paths) => paths, ['plain'], 'all', false),
    ...plan.worst(),
    ...plan.otherPaths(),
  ];
}

class Planning {
  readonly #world: World;
  readonly #query: GraphQLObjectType;
  readonly #schema: GraphQLSchema;
  readonly #paths: Map<string, Path[]>;

  constructor(schema: GraphQLSchema, world: World) {
    this.#schema = schema;
    this.#world = world;
    this.#query = schema.getQueryType()!;
    this.#paths = pathsFrom(this.#query);
  }

  /** Each field of each type that a query reaches. */
  outputs(some: (paths: Path[]) => Path[], forms: readonly Form[], inner: Inner, isEachVariant: boolean): Step[] {
    return objectTypes(this.#schema).flatMap((type) =>
      some(this.#paths.get(type.name) ?? []).flatMap((path) =>
        this.#fieldsOf(type, inner).flatMap((field) =>
          forms.flatMap((form) => {
            const variants = isEachVariant ? argsOf(this.#world, type, field).keys() : [0];
            return [...variants].map((variant) => this.#step(path, type, field, { variant, form, inner }));
          }),
        ),
      ),
    );
  }

  /** Every other field that leads to a type, and every other way to give its arguments. */
  otherPaths(): Step[] {
    const steps: Step[] = [];
    for (const parent of objectTypes(this.#schema))
      for (const before of (this.#paths.get(parent.name) ?? []).slice(-1))
        for (const field of Object.values(parent.getFields())) {
          const type = objectOf(field);
          if (type === null) continue;
          for (const variant of argsOf(this.#world, parent, field).keys()) {
            const isKnown = (this.#paths.get(type.name) ?? []).some((path) => path.at(-1)?.field === field);
            if (isKnown && variant === 0) continue;
            const path = [...before, { parent, field, variant }];
            for (const inner of this.#fieldsOf(type, 'one'))
              steps.push(this.#step(path, type, inner, { variant: 0, form: 'plain', inner: 'one' }));
          }
        }
    return steps;
  }

  /** Mutations and subscriptions, each with every field of what it answers, down to what queries reach, too. */
  roots(): Step[] {
    const steps: Step[] = [];
    for (const root of [this.#schema.getMutationType()!, this.#schema.getSubscriptionType()!])
      for (const field of Object.values(root.getFields())) steps.push(...this.#rootSteps(root, field));
    return steps;
  }

  /** Each argument at its worst, once and many times. */
  worst(): Step[] {
    const steps: Step[] = [];
    for (const type of objectTypes(this.#schema)) {
      const root = this.#rootOf(type);
      if (type !== this.#query && root === null && !this.#paths.has(type.name)) continue;
      const path = this.#paths.get(type.name)?.[0] ?? [];
      for (const field of Object.values(type.getFields())) {
        const ways = argsOf(this.#world, type, field);
        const known = new Set<string>();
        for (const [variant, way] of ways.entries())
          for (const worst of worstOf(field.args, settled(way))) {
            if (known.has(worst.name)) continue;
            known.add(worst.name);
            steps.push(this.#worstStep(path, type, field, variant, worst));
          }
      }
    }
    return steps;
  }

  #rootSteps(root: GraphQLObjectType, field: GraphQLField<unknown, unknown>): Step[] {
    const payload = objectOf(field);
    const covers = [nameOf(root, field)];
    const isMutation = root.name === 'Mutation';
    const variants = [...argsOf(this.#world, root, field).keys()];
    const steps: Step[] = [];
    const under = this.#underRoot(root, field);
    if (isMutation)
      for (const variant of variants)
        for (const [how, roots] of Object.entries({ once: [1], 'many times': ROOTS }))
          steps.push({
            ...under,
            name: `${covers[0]}/${variant} ${how}`,
            // Of a deletion all but the first fail.
            covers: payload === null && how === 'once' ? covers : [],
            widths: roots.map((names) => ({ names, first: 1 })),
            eachPage: false,
            write: (width, made) => this.#manyRoots(root, field, variant, width, made),
          });
    if (payload === null) return steps;
    for (const [name, paths] of pathsFrom(payload)) {
      const type = this.#schema.getType(name) as GraphQLObjectType;
      const [path] = paths;
      const last = path!.at(-1)?.parent ?? payload;
      if (path!.length > 0 && this.#paths.has(last.name)) continue;
      for (const inner of Object.values(type.getFields()))
        for (const variant of path!.length > 0 ? variants.slice(0, 1) : variants) {
          const whole = [{ parent: root, field, variant }, ...path!];
          const step = this.#step(whole, type, inner, { variant: 0, form: 'plain', inner: 'one' }, under);
          steps.push({ ...step, covers: [...step.covers, ...covers], eachPage: false });
          // Others are told apart by the mutation, not by what is asked of it.
          if (variant > 0 && isLeafType(getNamedType(inner.type))) break;
        }
    }
    return steps;
  }

  #underRoot(root: GraphQLObjectType, field: GraphQLField<unknown, unknown>): Partial<Step> {
    if (root.name === 'Mutation') {
      const mutation = MUTATION_WAYS[field.name];
      return mutation === undefined ? {} : { mutation };
    }
    const subscription = SUBSCRIPTION_WAYS[field.name];
    return subscription === undefined ? {} : { subscription };
  }

  #step(
    path: Path,
    type: GraphQLObjectType,
    field: GraphQLField<unknown, unknown>,
    asked: { variant: number; form: Form; inner: Inner },
    under: Partial<Step> = {},
  ): Step {
    const isPaged = [...path, { parent: type, field, variant: asked.variant }].some((hop) =>
      Object.values(argsOf(this.#world, hop.parent, hop.field)[hop.variant] ?? {}).includes(FIRST),
    );
    const pages = isPaged ? PAGES : [1];
    const widths = pages.flatMap((first) => NAMES.map((names) => ({ names, first })));
    const eachPage = objectOf(field) !== null && asked.form === 'plain';
    if (!eachPage) widths.sort((a, b) => b.names * b.first - a.names * a.first);
    const hops = path.map((hop) => `${hop.field.name}${hop.variant > 0 ? `/${hop.variant}` : ''}`).join('.');
    const how = [asked.form, asked.inner].filter((word) => !['plain', 'one'].includes(word)).join(' ');
    const [first] = path;
    return {
      ...under,
      name: `${nameOf(type, field)}${asked.variant > 0 ? `/${asked.variant}` : ''} of ${hops || 'the root'} ${how}`.trim(),
      covers: [nameOf(type, field)],
      widths,
      eachPage,
      write: (width, made) => {
        const root = first === undefined ? null : this.#rootOf(first.parent);
        const args = root === null ? {} : argsOf(this.#world, first!.parent, first!.field, made)[first!.variant];
        const writing = new Writing(this.#world, width.first, args);
        const { inner, fragments } = writing.many(type, field, { ...asked, names: width.names });
        return writing.done(root ?? 'query', writing.along(path, inner) + fragments);
      },
    };
  }

  #worstStep(
    path: Path,
    type: GraphQLObjectType,
    field: GraphQLField<unknown, unknown>,
    variant: number,
    worst: Worst,
  ): Step {
    return {
      ...(this.#rootOf(type) === null ? {} : this.#underRoot(type, field)),
      name: `${nameOf(type, field)}${worst.name}`,
      covers: [],
      widths: (type.name === 'Subscription' ? [1] : [1, 30, 3]).map((names) => ({ names, first: 1 })),
      eachPage: true,
      write: ({ names }, made) => {
        const args = worst.of(settled(argsOf(this.#world, type, field, made)[variant]!));
        const writing = new Writing(this.#world, 1);
        const { inner, fragments } = writing.many(type, field, {
          variant,
          form: 'plain',
          inner: 'one',
          names,
          args,
        });
        return writing.done(this.#rootOf(type) ?? 'query', writing.along(path, inner) + fragments);
      },
    };
  }

  #manyRoots(
    root: GraphQLObjectType,
    field: GraphQLField<unknown, unknown>,
    variant: number,
    { names }: Width,
    made: unknown,
  ): Operation {
    const args = argsOf(this.#world, root, field, made)[variant] ?? {};
    const writing = new Writing(this.#world, ONE.first, args);
    const { inner } = writing.many(root, field, { variant, form: 'plain', inner: 'one', names });
    return writing.done('mutation', inner);
  }

  #rootOf(type: GraphQLObjectType): 'mutation' | 'subscription' | null {
    return type.name === 'Mutation' ? 'mutation' : type.name === 'Subscription' ? 'subscription' : null;
  }

  /** Of one value as of all: values have nothing below. */
  #fieldsOf(type: GraphQLObjectType, inner: Inner): GraphQLField<unknown, unknown>[] {
    return Object.values(type.getFields()).filter(
      (field) => inner === 'one' || objectOf(field) !== null || isList(field),
    );
  }
}

/** With values instead of what stands for them. */
function settled(args: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => [
      name,
      value === FIRST ? 1 : typeof value === 'function' ? value(0) : value,
    ]),
  );
}
