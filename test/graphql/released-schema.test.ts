import { readFileSync } from 'node:fs';
import { CriticalityLevel, diff } from '@graphql-inspector/core';
import { buildSchema, type GraphQLSchema } from 'graphql';
import { expect, test } from 'vitest';

const textOf = (file: string): string => readFileSync(new URL(file, import.meta.url), 'utf8');
const released = buildSchema(textOf('released.graphql'));
const present = textOf('../../schema.graphql');

/** Changes that a script or page written for the last release would break on, each as a sentence. */
async function breaking(now: GraphQLSchema): Promise<string[]> {
  const changes = await diff(released, now);
  return changes
    .filter(({ criticality }) => criticality.level === CriticalityLevel.Breaking)
    .map(({ message }) => message);
}

test('whatever was asked of the last released schema can still be asked', async () => {
  expect(await breaking(buildSchema(present))).toEqual([]);
});

test('a removal, a new duty of the caller and an answer of another type would be seen', async () => {
  const changed = present
    .replace('lastHeardAt: DateTime\n', 'heardAt: DateTime\n')
    .replace(/(type AuditEntryConnection [^}]*totalCount: )Int!/, '$1String!')
    .replace('createWorkspace(', 'createWorkspace(region: String!, ');
  expect((await breaking(buildSchema(changed))).toSorted()).toEqual([
    "Argument 'region: String!' added to field 'Mutation.createWorkspace'",
    "Field 'AuditEntryConnection.totalCount' changed type from 'Int!' to 'String!'",
    "Field 'lastHeardAt' was removed from object type 'Device'",
  ]);
});
