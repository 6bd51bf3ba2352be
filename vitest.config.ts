import { createRequire } from 'node:module';
import { defineConfig } from 'vitest/config';

const require = createRequire(import.meta.url);

/** Compare how fast things go, by the clock: one file at a time, by `npm run test:timed` alone. */
const TIMED = 'test/timed/**/*.test.ts';
/** Whose queries run as graphql-js runs them and compiled, and the answers must be the same. */
const COMPARED = ['device-list', 'devices', 'fields', 'history', 'latest-lists', 'product-parts', 'reading'].map(
  (name) => `test/graphql/${name}.test.ts`,
);

/** Mock a module of Node, which nothing else may have loaded before. */
const MOCKING = ['test/domain/sign-in.test.ts'];

const COUNTING = [
  {
    extends: true as const,
    test: {
      name: 'all',
      include: ['test/**/*.test.ts', 'src/**/*.test.ts'],
      exclude: [TIMED, ...COMPARED, ...MOCKING],
    },
  },
  { extends: true as const, test: { name: 'mocking', include: MOCKING, isolate: true } },
  {
    extends: true as const,
    test: { name: 'compared', include: COMPARED, env: { COMPARED: 'yes' } },
  },
];
const BY_THE_CLOCK = [{ extends: true as const, test: { name: 'timed', include: [TIMED], fileParallelism: false } }];

export default defineConfig({
  // graphql 16 ships a CommonJS and an ES build; two copies in one process refuse each other's schemas.
  resolve: { alias: [{ find: /^graphql$/, replacement: require.resolve('graphql') }] },
  test: {
    projects: process.env['INLET_TESTS'] === 'timed' ? BY_THE_CLOCK : COUNTING,
    globalSetup: ['test/support/databases.ts'],
    // Ends what never ends: far more than a test takes on a slow and busy machine.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // In CI a red test is tried once more, and named, until five whole runs in a row have been green without.
    retry: process.env['CI'] === undefined ? 0 : { count: 1, delay: 2_000 },
    // A second is nothing on a busy machine.
    expect: { poll: { timeout: 120_000 } },
    pool: 'forks',
    // A process for each file is a sixth of a whole run: loading the server's modules, most of all.
    isolate: false,
    maxWorkers: 3,
    server: { deps: { inline: ['type-graphql', 'graphql-scalars'] } },
  },
});
