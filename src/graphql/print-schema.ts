import { readFileSync, writeFileSync } from 'node:fs';
import { lexicographicSortSchema, printSchema } from 'graphql';
import { createSchema } from './schema.ts';

const HEADER = '# Written by `npm run schema`. Do not edit: change src/graphql and run it again.\n\n';

/** The text of `schema.graphql`. */
export function schemaText(): string {
  return `${HEADER}${printSchema(lexicographicSortSchema(createSchema(null)))}\n`;
}

/** `npm run schema` writes schema.graphql into the working directory; `--check` only compares. */
if (import.meta.main) {
  const file = 'schema.graphql';
  const text = schemaText();
  if (!process.argv.includes('--check')) writeFileSync(file, text);
  else if (read(file) !== text) {
    console.error(`${file} is not what src/graphql says: run "npm run schema" and commit it.`);
    process.exitCode = 1;
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
