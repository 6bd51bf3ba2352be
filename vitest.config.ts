import { createRequire } from 'node:module';
import { defineConfig } from 'vitest/config';

const require = createRequire(import.meta.url);

/** They compare how fast things go: they run one at a time, after all others. */
const TIMED = [
  'test/sandbox/fairness.test.ts',
  'test/sandbox/shares.test.ts',
  'test/graphql/shares.test.ts',
  'test/graphql/mass.test.ts',
];

const GRAPHQL = 'test/graphql/**/*.test.ts';

export default defineConfig({
  // graphql 16 ships a CommonJS and an ES build; two copies in one process refuse each other's schemas.
  resolve: { alias: [{ find: /^graphql$/, replacement: require.resolve('graphql') }] },
  test: {
    projects: [
      {
        extends: true,
        test: { name: 'all', include: ['test/**/*.test.ts', 'src/**/*.test.ts'], exclude: [GRAPHQL, ...TIMED] },
      },
      {
        extends: true,
        // Every query runs as graphql-js runs it and compiled, and the answers must be the same.
        test: { name: 'graphql', include: [GRAPHQL], exclude: TIMED, env: { GRAPHQL_COMPILE: 'compare' } },
      },
      {
        extends: true,
        test: { name: 'timed', include: TIMED, fileParallelism: false, sequence: { groupOrder: 1 } },
      },
    ],
    globalSetup: ['test/support/databases.ts'],
    testTimeout: 90_000,
    hookTimeout: 120_000,
    // Shared machines stand still at times: in CI a red test is tried again a little later, and `.ci/run` names it.
    retry: process.env['CI'] === undefined ? 0 : { count: 2, delay: 2_000 },
    // On a busy machine a second is nothing.
    expect: { poll: { timeout: 15_000 } },
    pool: 'forks',
    maxWorkers: 3,
    server: { deps: { inline: ['type-graphql', 'graphql-scalars'] } },
  },
});
