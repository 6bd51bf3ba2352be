import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { HELP, helpOf, overview } from './help.ts';

/** The options that a file of this folder gives to `parseArgs`, those of others that it names included. */
function optionsOf(file: string, constant = 'OPTIONS'): string[] {
  const text = readFileSync(join(import.meta.dirname, file), 'utf8');
  const block = new RegExp(`const ${constant} = \\{([^;]*)\\} as const`).exec(text)![1]!;
  const own = [...block.matchAll(/'?([a-z-]+)'?: \{ type: /g)].map((match) => match[1]!);
  const others = { REMOTE_OPTIONS: 'remote.ts', FOREIGN_OPTIONS: 'import-foreign.ts' };
  return [...own, ...Object.entries(others).flatMap(([name, other]) => (block.includes(`...${name}`) ? optionsOf(other, name) : []))]; // oxfmt-ignore
}

test.each(['export', 'import', 'config'] as const)('the help of %s names every option that it takes', (name) => {
  const told = HELP[name].options.map(([option]) => /^--([a-z-]+)/.exec(option)![1]!);
  expect(told.toSorted()).toEqual(optionsOf(`${name}.ts`).toSorted());
  expect(helpOf(HELP[name])).toContain(`Usage: inlet ${name} `);
});

test('the overview has a line for each command', () => {
  for (const { call, does } of Object.values(HELP))
    expect(overview().split('\n').filter((line) => line.includes(`inlet ${call} `) && line.includes(does))).toHaveLength(1); // oxfmt-ignore
});
