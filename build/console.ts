import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { defineConfig } from 'vite';
import { translatedSource } from './translated-source.ts';

const ROOT = join(import.meta.dirname, '..');
const PACKED = /\.(?:js|css|html|svg|json)$/;

/** Beside each file its `.br` and `.gz`: packed once, as tightly as it goes. */
function packFiles(folder: string): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!PACKED.test(name)) continue;
    const content = readFileSync(join(folder, name));
    const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(content, quality));
    writeFileSync(join(folder, `${name}.gz`), gzipSync(content, { level: 9 }));
  }
}

const CONSOLE = join(ROOT, 'src/console');
const MAIN = join(CONSOLE, 'main.tsx');
const GRAPHIQL = join(CONSOLE, 'graphiql/page.ts');
const SHARE = join(CONSOLE, 'share/main.tsx');
const TEXTS = `import { parts as __parts, t as __t } from ${JSON.stringify(join(CONSOLE, 'texts/texts.ts'))};\n`;

/** Whether a module comes with a page whatever its address, as what the script of the page imports at once. */
function comesWith(
  page: string,
  id: string,
  importersOf: (id: string) => readonly string[],
  seen = new Set(),
): boolean {
  if (seen.has(id)) return false;
  seen.add(id);
  return id === page || importersOf(id).some((importer) => comesWith(page, importer, importersOf, seen));
}

/** The console's build; `--outDir` says where to (see src/launch.mjs). */
export default defineConfig({
  root: join(ROOT, 'src/console'),
  base: '/console/',
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2022',
    emptyOutDir: true,
    rolldownOptions: {
      // Directives of React's own kind of server, in some fifty files.
      checks: { moduleLevelDirective: false, pluginTimings: false },
      output: {
        codeSplitting: {
          includeDependenciesRecursively: false,
          // The console in one file, not in twenty that are got one behind the other; and in another one what the page of a
          // public link has in common with it, which gets nothing else of the console.
          groups: [
            {
              name: (id, modules) => {
                const importersOf = (of: string): readonly string[] => modules.getModuleInfo(of)?.importers ?? [];
                const isFirst =
                  id !== MAIN && comesWith(MAIN, id, importersOf) && !comesWith(GRAPHIQL, id, importersOf);
                if (!isFirst) return null;
                return comesWith(SHARE, id, importersOf) ? 'common' : 'first';
              },
            },
          ],
        },
      },
      input: {
        index: join(CONSOLE, 'index.html'),
        graphql: join(CONSOLE, 'graphql.html'),
        share: join(CONSOLE, 'share.html'),
      },
    },
    reportCompressedSize: false,
    // Everything from files: the policy of the page allows nothing inline.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 5_000,
  },
  plugins: [
    {
      name: 'texts-in-the-readers-language',
      enforce: 'pre',
      transform: {
        filter: { id: { include: /src\/console\/.*\.tsx$/ } },
        handler: (source, id) => {
          const { code } = translatedSource(id, source);
          return code === null ? null : { code: TEXTS + code, map: null };
        },
      },
    },
    {
      // Half of it: what the page's policy would not load anyway.
      name: 'without-fonts-of-graphiql',
      transform: {
        filter: { id: /graphiql\/dist\/style\.css$/ },
        handler: (code) => ({ code: code.replace(/@font-face\s*\{[^}]*\}/g, ''), map: null }),
      },
      enforce: 'pre',
    },
    {
      name: 'pack-files',
      writeBundle: ({ dir }) => packFiles(dir!),
    },
  ],
});
