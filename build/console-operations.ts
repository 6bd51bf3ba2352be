// Types from the schema: beside each `.graphql` file of the console a `.graphql.ts` with its operations, checked against
// schema.graphql, and `api/schema-types.ts` with the enums and inputs they use. `--check` only compares.
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import {
  buildSchema,
  type FragmentDefinitionNode,
  getNamedType,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  parse,
  print,
  type SelectionSetNode,
  stripIgnoredCharacters,
  typeFromAST,
  validate,
} from 'graphql';

const ROOT = join(import.meta.dirname, '..');
const CONSOLE = join(ROOT, 'src/console');
const SCHEMA_TYPES = join(CONSOLE, 'api/schema-types.ts');
const HEAD = '// Written by build/console-operations.ts. Do not edit.\n';

const SCALARS: Record<string, string> = {
  ID: 'string',
  String: 'string',
  DateTime: 'string',
  Int: 'number',
  Float: 'number',
  Boolean: 'boolean',
  JSON: 'unknown',
  MeasurementValue: 'number | string | boolean',
};

const schema = buildSchema(readFileSync(join(ROOT, 'schema.graphql'), 'utf8'));
const used = new Set<string>();

function named(name: string): string {
  const scalar = SCALARS[name];
  if (scalar !== undefined) return scalar;
  used.add(name);
  return name;
}

/** `unknown` holds null already. */
function orNull(type: string, more = ''): string {
  return type === 'unknown' ? type : `${type} | null${more}`;
}

function inputType(type: GraphQLInputType): string {
  if (isNonNullType(type)) return inputType(type.ofType);
  if (isListType(type)) return `readonly (${nullable(type.ofType as GraphQLInputType)})[]`;
  return named(type.name);
}

function nullable(type: GraphQLInputType): string {
  return isNonNullType(type) ? inputType(type) : orNull(inputType(type));
}

function property(name: string, type: GraphQLInputType): string {
  return isNonNullType(type) ? `${name}: ${inputType(type)}` : `${name}?: ${orNull(inputType(type), ' | undefined')}`;
}

function outputType(type: GraphQLOutputType, inner: string): string {
  const bare = (wrapped: GraphQLOutputType): string => {
    if (!isListType(wrapped)) return inner;
    const item = wrapped.ofType as GraphQLOutputType;
    return `(${isNonNullType(item) ? bare(item.ofType as GraphQLOutputType) : orNull(bare(item))})[]`;
  };
  return isNonNullType(type) ? bare(type.ofType as GraphQLOutputType) : orNull(bare(type));
}

interface Selected {
  type: GraphQLOutputType;
  sets: SelectionSetNode[];
  /** True when a directive may leave it out. */
  mayLack: boolean;
}

function collect(
  set: SelectionSetNode,
  parent: GraphQLObjectType,
  fragments: Map<string, FragmentDefinitionNode>,
  into: Map<string, Selected>,
): void {
  for (const node of set.selections) {
    if (node.kind === Kind.FRAGMENT_SPREAD)
      collect(fragments.get(node.name.value)!.selectionSet, parent, fragments, into);
    else if (node.kind === Kind.INLINE_FRAGMENT) collect(node.selectionSet, parent, fragments, into);
    else {
      const key = node.alias?.value ?? node.name.value;
      const field = parent.getFields()[node.name.value];
      const mayLack = (node.directives ?? []).length > 0;
      const selected = into.get(key) ?? { type: field!.type, sets: [], mayLack };
      selected.mayLack &&= mayLack;
      if (node.selectionSet !== undefined) selected.sets.push(node.selectionSet);
      into.set(key, selected);
    }
  }
}

function objectType(
  sets: SelectionSetNode[],
  parent: GraphQLObjectType,
  fragments: Map<string, FragmentDefinitionNode>,
): string {
  const fields = new Map<string, Selected>();
  for (const set of sets) collect(set, parent, fragments, fields);
  const lines = [...fields].map(([key, selected]) => {
    const type = getNamedType(selected.type);
    const inner = isObjectType(type) ? objectType(selected.sets, type, fragments) : named(type.name);
    const value = outputType(selected.type, inner);
    return selected.mayLack ? `${key}?: ${value === 'unknown' ? value : `${value} | undefined`}` : `${key}: ${value}`;
  });
  return `{ ${lines.join('; ')} }`;
}

function usedFragments(
  node: OperationDefinitionNode | FragmentDefinitionNode,
  fragments: Map<string, FragmentDefinitionNode>,
  found = new Set<string>(),
): Set<string> {
  for (const [, name] of print(node).matchAll(/\.\.\.\s*(?!on\b)(\w+)/g)) {
    if (found.has(name!)) continue;
    found.add(name!);
    usedFragments(fragments.get(name!)!, fragments, found);
  }
  return found;
}

function moduleOf(path: string): string {
  const text = readFileSync(path, 'utf8');
  const document = parse(text);
  const mistakes = validate(schema, document).filter(({ message }) => !/^Fragment ".*" is never used/.test(message));
  if (mistakes.length > 0) throw new Error(`${relative(ROOT, path)}: ${mistakes.map(String).join('\n')}`);
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const node of document.definitions)
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node);
  used.clear();
  const parts: string[] = [];
  for (const [name, node] of fragments) {
    const type = schema.getType(node.typeCondition.name.value) as GraphQLObjectType;
    const shape = objectType([node.selectionSet], type, fragments);
    parts.push(
      `/** The selection of the fragment \`${name}\` of ${basename(path)}. */\nexport type ${name} = ${shape};`,
    );
  }
  for (const node of document.definitions) {
    if (node.kind !== Kind.OPERATION_DEFINITION) continue;
    const name = node.name!.value;
    const root = schema.getRootType(node.operation)!;
    const data = objectType([node.selectionSet], root, fragments);
    const variables = (node.variableDefinitions ?? []).map(({ variable, type }) =>
      property(variable.name.value, typeFromAST(schema, type as never) as GraphQLInputType),
    );
    const texts = [node, ...[...usedFragments(node, fragments)].map((fragment) => fragments.get(fragment)!)].map(print);
    const sent = JSON.stringify(stripIgnoredCharacters(texts.join('\n')));
    parts.push(
      `/** The ${node.operation} \`${name}\` of ${basename(path)}. */\nexport const ${name}: Operation<${data}, { ${variables.join('; ')} }> = { text: ${sent} };`,
    );
  }
  const from = (file: string): string => {
    const way = relative(dirname(path), join(CONSOLE, 'api', file));
    return way.startsWith('.') ? way : `./${way}`;
  };
  const types = [...used].sort();
  for (const type of types) allUsed.add(type);
  const imports = [
    ...(parts.some((part) => part.includes('Operation<'))
      ? [`import type { Operation } from '${from('operation.ts')}';`]
      : []),
    ...(types.length > 0 ? [`import type { ${types.join(', ')} } from '${from('schema-types.ts')}';`] : []),
  ];
  return `${HEAD}${imports.join('\n')}\n\n${parts.join('\n\n')}\n`;
}

function schemaTypes(): string {
  const parts = new Map<string, string>();
  const waiting = [...allUsed];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (parts.has(name)) continue;
    const type = schema.getType(name);
    const head = `/** \`${name}\` of schema.graphql. */\nexport type ${name} =`;
    if (isEnumType(type)) {
      const values = type.getValues().map((value) => `'${value.name}'`);
      parts.set(name, `${head} ${values.join(' | ')};`);
    } else if (isInputObjectType(type)) {
      used.clear();
      const fields = Object.values(type.getFields()).map((field) => property(field.name, field.type));
      parts.set(name, `${head} { ${fields.join('; ')} };`);
      waiting.push(...used);
    } else throw new Error(`${name}: neither enum nor input`);
  }
  const sorted = [...parts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text);
  const mutations = Object.keys(schema.getMutationType()!.getFields()).sort();
  sorted.push(`/** The name of every mutation. */\nexport const MUTATIONS = '${mutations.join(' ')}'.split(' ');`);
  return `${HEAD}\n${sorted.join('\n\n')}\n`;
}

const allUsed = new Set<string>();
const written = new Map<string, string>();
for (const path of globSync(join(CONSOLE, '**/*.graphql')).sort()) written.set(`${path}.ts`, moduleOf(path));
written.set(SCHEMA_TYPES, schemaTypes());

const read = (path: string): string | null => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
};
const stale = [...written].filter(([path, text]) => read(path) !== text);
if (process.argv.includes('--check')) {
  if (stale.length > 0) {
    console.error(
      `Run "npm run schema": ${stale.map(([path]) => relative(ROOT, path)).join(', ')} is not what the schema says.`,
    );
    process.exit(1);
  }
} else for (const [path, text] of stale) writeFileSync(path, text);
