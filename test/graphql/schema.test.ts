import { readFileSync } from 'node:fs';
import {
  buildSchema,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isObjectType,
  isScalarType,
  validateSchema,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { schemaText } from '../../src/graphql/print-schema.ts';
import { createSchema } from '../../src/graphql/schema.ts';

const contract = buildSchema(readFileSync(new URL('contract.graphql', import.meta.url), 'utf8'));
const schema = createSchema(null);

describe('the GraphQL schema', () => {
  it('is valid', () => {
    expect(validateSchema(schema)).toEqual([]);
  });

  it('has everything that the contract fixes', () => {
    expect(missingFrom(schema)).toEqual([]);
  });

  it('would be found out if something of the contract were missing', () => {
    const changed = readFileSync(new URL('contract.graphql', import.meta.url), 'utf8')
      .replace('lastHeardAt: DateTime\n', 'lastHeardAt: DateTime!\n')
      .replace('enum Role { VIEWER EDITOR ADMIN }', 'enum Role { VIEWER ADMIN }')
      .replace('signIn(email: String!, password: String!)', 'signIn(email: String!)')
      .replace('  serialNumber: String!\n  deviceType', '  deviceType')
      .replace('input EntryInput { field: String!, value', 'input EntryInput { field: ID!, value');
    expect(missingFrom(buildSchema(changed))).toEqual([
      'Role.EDITOR',
      'Mutation.signIn(password:): String!',
      'Device.serialNumber: String!',
      'Device.lastHeardAt: DateTime',
      'EntryInput.field: String!',
    ]);
  });

  it('asks for no argument or input field that the contract does not know', () => {
    expect(newDemands(schema)).toEqual([]);
  });

  it('says of every type, field, argument, input field and enum value what it means', () => {
    expect(undescribed(schema)).toEqual([]);
  });

  it('would be found out if something had no meaning', () => {
    const silent = 'enum E { A } input I { x: Int } type T { f(a: I): E } type Query { t: T }';
    const spoken = '"an enum" enum E { "a" A } "in" input I { "x" x: Int } "q" type Query { "f" f("a" a: I): E }';
    expect(undescribed(buildSchema(silent)).sort()).toEqual(['E', 'E.A', 'I', 'I.x', 'Query.t', 'T', 'T.f', 'T.f(a:)']);
    expect(undescribed(buildSchema(spoken))).toEqual([]);
  });

  it('is what schema.graphql in the repository says (npm run schema)', () => {
    expect(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8')).toBe(schemaText());
  });
});

/** Whatever the contract has and the schema has not, or has otherwise. */
function missingFrom(actual: GraphQLSchema): string[] {
  const missing: string[] = [];
  const check = (place: string, wanted: { toString(): string }, found: { toString(): string } | undefined): void => {
    if (String(wanted) !== String(found)) missing.push(`${place}: ${String(wanted)}`);
  };
  for (const type of Object.values(contract.getTypeMap())) {
    if (type.name.startsWith('__')) continue;
    const found = actual.getType(type.name);
    if (isScalarType(type)) {
      if (!isScalarType(found)) missing.push(type.name);
    } else if (isEnumType(type)) {
      for (const { name } of type.getValues())
        if (!isEnumType(found) || !found.getValue(name)) missing.push(`${type.name}.${name}`);
    } else if (isInputObjectType(type)) {
      const fields = isInputObjectType(found) ? found.getFields() : {};
      for (const field of Object.values(type.getFields()))
        check(`${type.name}.${field.name}`, field.type, fields[field.name]?.type);
    } else if (isObjectType(type)) {
      const fields = isObjectType(found) ? found.getFields() : {};
      for (const field of Object.values(type.getFields())) {
        const place = `${type.name}.${field.name}`;
        check(place, field.type, fields[field.name]?.type);
        for (const arg of field.args)
          check(
            `${place}(${arg.name}:)`,
            arg.type,
            fields[field.name]?.args.find(({ name }) => name === arg.name)?.type,
          );
      }
    }
  }
  return missing;
}

/** Required arguments and input fields beyond the contract would break its clients. */
function newDemands(actual: GraphQLSchema): string[] {
  const demands: string[] = [];
  for (const type of Object.values(contract.getTypeMap())) {
    const found = actual.getType(type.name);
    if (isInputObjectType(type) && isInputObjectType(found)) {
      for (const field of Object.values(found.getFields()))
        if (!(field.name in type.getFields()) && String(field.type).endsWith('!'))
          demands.push(`${type.name}.${field.name}`);
    } else if (isObjectType(type) && isObjectType(found) && !type.name.startsWith('__')) {
      for (const field of Object.values(found.getFields())) {
        const known = type.getFields()[field.name];
        for (const arg of known === undefined ? [] : field.args)
          if (!known?.args.some(({ name }) => name === arg.name) && String(arg.type).endsWith('!'))
            demands.push(`${type.name}.${field.name}(${arg.name}:)`);
      }
    }
  }
  return demands;
}

/** Every part of the schema without a description; the root types speak for themselves. */
function undescribed(actual: GraphQLSchema): string[] {
  const silent: string[] = [];
  const check = (place: string, { description }: { description?: string | null | undefined }): void => {
    if (description == null || !/\S/.test(description)) silent.push(place);
  };
  const roots = [actual.getQueryType(), actual.getMutationType(), actual.getSubscriptionType()];
  for (const type of Object.values(actual.getTypeMap())) {
    if (type.name.startsWith('__')) continue;
    if (!roots.some((root) => root === type)) check(type.name, type);
    if (isEnumType(type)) for (const value of type.getValues()) check(`${type.name}.${value.name}`, value);
    if (isInputObjectType(type) || isObjectType(type))
      for (const field of Object.values(type.getFields())) {
        const place = `${type.name}.${field.name}`;
        check(place, field);
        if ('args' in field) for (const arg of field.args) check(`${place}(${arg.name}:)`, arg);
      }
  }
  return silent;
}
