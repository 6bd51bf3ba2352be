import { existsSync } from 'node:fs';

/** `npm run bench -- <name> [...]`: each bench prints one JSON line for each scenario and fails on a missing row. */
const [name = ''] = process.argv.slice(2);
const file = new URL(`./${name}-bench.ts`, import.meta.url);
if (!/^[a-z]+$/.test(name) || !existsSync(file)) {
  console.error('usage: npm run bench -- <record|store|decode|webhook> [options]');
  process.exit(1);
}
const { run } = (await import(file.href)) as { run: (args: string[]) => Promise<void> };
await run(process.argv.slice(3));
process.exit(0);
