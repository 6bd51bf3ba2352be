import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type InlineConfig, type Plugin } from 'vite';

const ROOT = join(import.meta.dirname, '..');
/** What is no JavaScript, or looks for files of its own beside it. */
const FROM_NODE_MODULES = ['better-sqlite3', 'isolated-vm', 'pg-native', 'pino', 'class-validator'];

const PROGRAM = [
  'main',
  // Imported by main, and by the tests, which start many servers in one process.
  'app',
  'config',
  'cli/inlet',
  'graphql/print-schema',
  'measurement-store/sqlite/writer/writer.worker',
  'measurement-store/sqlite/reader/reader.worker',
  'measurement-store/postgres/reader.worker',
  'yaml/yaml.worker',
];
/** It may read nothing but its own folder, so it shares no file with the others. */
const DECODER_PROCESS = ['sandbox/decoder.worker'];

const LAZY = '\0lazy:';
/**
 * Modules of Node's that load a lot by being looked at: an `import` reads everything that they export, with which `http`
 * loads a whole client (7 MB, 40 ms) and `crypto` another crypto (25 ms).
 */
const lazyModules: Plugin = {
  name: 'lazy-modules',
  enforce: 'pre',
  resolveId: (id) => (/^(?:node:)?(?:https?|crypto)$/.test(id) ? `${LAZY}${id.replace('node:', '')}` : null),
  load: (id) =>
    id.startsWith(LAZY) ? `module.exports = process.getBuiltinModule('node:${id.slice(LAZY.length)}');` : null,
};

/**
 * The server's build, `node build/server.ts <folder>` (see src/launch.mjs): each program and worker in its place of the
 * source tree, with everything it imports in a few files beside it. Loading two thousand modules one by one took half of
 * a start.
 */
function bundle(folder: string, names: string[]): InlineConfig {
  return {
    configFile: false,
    root: ROOT,
    logLevel: 'warn',
    plugins: [lazyModules],
    ssr: { noExternal: true, external: FROM_NODE_MODULES },
    build: {
      ssr: true,
      target: 'node24',
      outDir: join(folder, 'src'),
      emptyOutDir: false,
      copyPublicDir: false,
      reportCompressedSize: false,
      chunkSizeWarningLimit: 10_000,
      rolldownOptions: {
        input: Object.fromEntries(names.map((name) => [name, join(ROOT, 'src', `${name}.ts`)])),
        checks: { eval: false, unresolvedImport: false, pluginTimings: false },
        output: {
          format: 'esm',
          entryFileNames: '[name].js',
          chunkFileNames: '[name]-[hash].js',
          comments: false,
          // V8 keeps a source with one other character in two bytes a character, in each thread that loads it.
          minify: { compress: false, mangle: false, codegen: { removeWhitespace: false, asciiOnly: true } },
          // Where it stands tells where everything else does.
          codeSplitting: { groups: [{ name: 'program-file', test: /\/src\/program-file\.ts$/ }] },
        },
      },
    },
  };
}

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('node build/server.ts <folder>');
await build(bundle(folder, PROGRAM));
await build(bundle(folder, DECODER_PROCESS));
copyFileSync(join(ROOT, 'src/v8-flags.json'), join(folder, 'src/v8-flags.json'));
