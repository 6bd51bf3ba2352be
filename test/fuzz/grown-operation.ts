import type { Chance } from './chance.ts';

interface TypeRef {
  kind: string;
  name: string | null;
  ofType: TypeRef | null;
}
interface Field {
  name: string;
  args: { name: string; type: TypeRef; defaultValue: string | null }[];
  type: TypeRef;
}
interface Type {
  kind: string;
  name: string;
  fields: Field[] | null;
  inputFields: Field['args'] | null;
  enumValues: { name: string }[] | null;
}

const INTROSPECTION = `{ __schema { types { kind name
  fields { name args { name defaultValue type { ...T } } type { ...T } }
  inputFields { name defaultValue type { ...T } } enumValues { name } } } }
fragment T on __Type { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } } }`;

/** Operations grown from the server's own schema: valid in form, odd in every value. */
export class GrownOperations {
  readonly #types: Map<string, Type>;

  private constructor(types: Type[]) {
    this.#types = new Map(types.map((type) => [type.name, type]));
  }

  static async of(gql: (query: string) => Promise<Record<string, any>>): Promise<GrownOperations> {
    return new GrownOperations((await gql(INTROSPECTION))['__schema'].types);
  }

  /** `ids`: those that exist, so that some operations reach what is there. */
  grow(chance: Chance, ids: readonly string[], kind: 'Query' | 'Mutation' | 'Subscription'): string {
    const type = this.#types.get(kind)!;
    const size = { left: 60 };
    const fields = Array.from({ length: 1 + chance.int(kind === 'Subscription' ? 1 : 3) }, (_, at) => {
      // Sign-ins wait for each other: they would be all there is.
      const field = chance.pick(type.fields!.filter(({ name }) => name !== 'signIn'));
      return `a${at}: ${this.#field(field, chance, ids, 4, size)}`;
    });
    return `${kind.toLowerCase()} { ${fields.join(' ')} }`;
  }

  #field(field: Field, chance: Chance, ids: readonly string[], depth: number, size: { left: number }): string {
    size.left -= 1;
    const args = field.args.filter(({ type }) => type.kind === 'NON_NULL' || chance.of(0.3));
    const given = args.map(({ name, type }) => `${name}: ${this.#value(type, chance, ids, 3)}`);
    return `${field.name}${given.length === 0 ? '' : `(${given.join(', ')})`}${this.#selection(field.type, chance, ids, depth, size)}`;
  }

  #selection(ref: TypeRef, chance: Chance, ids: readonly string[], depth: number, size: { left: number }): string {
    const type = this.#types.get(nameOf(ref))!;
    if (type.fields === null) return '';
    const fields = type.fields.filter(({ type: of }) => depth > 0 || this.#types.get(nameOf(of))!.fields === null);
    const some = fields
      .filter(() => size.left > 0 && chance.of(0.4))
      .map((field, at) => {
        return `b${at}: ${this.#field(field, chance, ids, depth - 1, size)}`;
      });
    return ` { __typename ${some.join(' ')} }`;
  }

  #value(ref: TypeRef, chance: Chance, ids: readonly string[], depth: number): string {
    if (ref.kind === 'NON_NULL') return chance.of(0.01) ? 'null' : this.#value(ref.ofType!, chance, ids, depth);
    if (chance.of(0.05)) return 'null';
    if (ref.kind === 'LIST')
      return `[${Array.from({ length: chance.int(4) }, () => this.#value(ref.ofType!, chance, ids, depth)).join(', ')}]`;
    const type = this.#types.get(ref.name!)!;
    if (type.enumValues !== null) return chance.pick(type.enumValues).name;
    if (type.inputFields !== null)
      return `{${type.inputFields
        .filter(({ type: of }) => of.kind === 'NON_NULL' || (depth > 0 && chance.of(0.4)))
        .map(({ name, type: of }) => `${name}: ${this.#value(of, chance, ids, depth - 1)}`)
        .join(', ')}}`;
    return scalar(type.name, chance, ids);
  }
}

function scalar(name: string, chance: Chance, ids: readonly string[]): string {
  if (chance.of(0.02)) return literal(chance.json(2));
  if (name === 'ID') return JSON.stringify(chance.of(0.8) ? chance.pick(ids) : chance.text());
  if (name === 'Int') return String(chance.pick([0, 1, 2, 50, 500, 501, -1, 2147483647, 100000]));
  if (name === 'Float') return String(chance.number());
  if (name === 'Boolean') return String(chance.of(0.5));
  if (name === 'DateTime')
    return JSON.stringify(chance.of(0.7) ? new Date(chance.int(2 ** 31) * 2000).toISOString() : chance.text());
  if (name === 'JSON' || name === 'MeasurementValue') return literal(chance.json(3));
  return JSON.stringify(
    chance.of(0.3) ? chance.pick(['5m', '1mo', 'Europe/Berlin', 'temperature', 'unlimited']) : chance.text(),
  );
}

/** A value as a literal of GraphQL. */
function literal(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  const fields = Object.entries(value).filter(([name]) => /^[A-Za-z_]\w*$/.test(name));
  return `{${fields.map(([name, inner]) => `${name}: ${literal(inner)}`).join(', ')}}`;
}

function nameOf(ref: TypeRef): string {
  return ref.ofType === null ? ref.name! : nameOf(ref.ofType);
}
