const BENCHES = [
  'record',
  'rules',
  'alerts',
  'store',
  'growth',
  'decode',
  'webhook',
  'history',
  'graphql',
  'console',
  'live',
  'export',
  'configuration',
  'attack',
  'versions',
  'mqtt',
  'workers',
  'cost',
  'growth-model',
];

/** `npm run bench -- <name> [...]`: each bench prints one JSON line for each scenario and fails on a missing row. */
const [name = '', ...args] = process.argv.slice(2);
if (!BENCHES.includes(name)) {
  console.error(`usage: npm run bench -- <${BENCHES.join('|')}> [options]`);
  process.exit(1);
}
const { run } = (await import(`./${name}.ts`)) as { run: (args: string[]) => Promise<void> };
await run(args);
process.exit(0);
