import { createRequire } from 'node:module';
import { availableParallelism, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const require = createRequire(import.meta.url);

/** Compare how fast things go, by the clock: one file at a time, by `npm run test:timed` alone. */
const TIMED = 'test/timed/**/*.test.ts';
/** Mock a module of Node, which nothing else may have loaded before. */
const MOCKING = ['test/domain/sign-in.test.ts'];

/** Take more than ten seconds, however short their files are: begun last they would leave a core idle at the end. */
const LONG = [
  'canaries',
  'configuration/all-or-nothing',
  'console/access',
  'console/alerts',
  'console/calls',
  'console/dashboards',
  'console/devices',
  'console/everywhere',
  'console/keyboard',
  'console/languages',
  'console/no-jumps',
  'console/product',
  'console/share',
  'decoders/replay',
  'faults/clock',
  'faults/commits-in-doubt',
  'faults/database-guard',
  'faults/flush-numbers',
  'faults/killed',
  'faults/missed-changes',
  'faults/nodes',
  'faults/redis-away',
  'faults/replicas',
  'faults/rolling-restart',
  'faults/silent-database',
  'faults/standby',
  'faults/stop',
  'faults/unwritable-log',
  'faults/workers',
  'fuzz/walk/walk',
  'graphql/alerts',
  'graphql/created-while-deleted',
  'graphql/history',
  'graphql/many-values',
  'graphql/rights-matrix',
  'graphql/subscriptions',
  'http/files',
  'http/late-heads',
  'http/tiny-chunks',
  'http/unknown-devices',
  'measurement-store/feed',
  'mqtt/broker-source',
  'operator/command-line',
  'operator/image',
  'operator/transfer-command',
  'outgoing/sending',
  'sandbox/bounds',
  'sandbox/hostile',
  'sandbox/offences',
  'soak/soak',
].map((name) => `/test/${name}.test.ts`);

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project, moduleId }: TestSpecification): number => {
      if (project.name === 'mocking') return 0;
      return LONG.some((name) => moduleId.endsWith(name)) ? 1 : 2;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}

const COUNTING = [
  { extends: true as const, test: { name: 'mocking', include: MOCKING, isolate: true } },
  {
    extends: true as const,
    test: {
      name: 'others',
      include: ['test/**/*.test.ts', 'src/**/*.test.ts'],
      exclude: [TIMED, ...MOCKING],
    },
  },
];
const BY_THE_CLOCK = [{ extends: true as const, test: { name: 'timed', include: [TIMED], fileParallelism: false } }];

export default defineConfig({
  // graphql 16 ships a CommonJS and an ES build; two copies in one process refuse each other's schemas.
  resolve: {
    alias: [
      { find: /^graphql$/, replacement: require.resolve('graphql') },
      {
        find: /^(?:\.\.?\/)+program-file\.ts$/,
        replacement: fileURLToPath(new URL('test/support/built-program-file.ts', import.meta.url)),
      },
    ],
  },
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
    sequence: { sequencer: LongestFirst },
    pool: 'forks',
    // A process for each file is a sixth of a whole run: loading the server's modules, most of all.
    isolate: false,
    // More than processors, as tests also wait; each with its host takes some 2 GB.
    maxWorkers: Math.max(1, Math.min(availableParallelism() + 2, Math.floor(totalmem() / 4e9))),
    server: { deps: { inline: ['type-graphql', 'graphql-scalars'] } },
  },
});
