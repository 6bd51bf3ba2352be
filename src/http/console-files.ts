import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type Koa from 'koa';
import { PROGRAM_FOLDER } from '../program-file.ts';
import type { Handler } from './routes.ts';
import { must } from '../must.ts';

/** Folders of the console: beside the built server, or where the source tree puts it. */
const FOLDERS = ['../console', '../dist/console'].map((path) => join(PROGRAM_FOLDER, path));
const ROOT = '/console/';
const ASSETS = 'assets/';

// Maps, no objects: their keys come from a path (`/console/constructor`).
const TYPES: ReadonlyMap<string, string> = new Map([
  ['.html', 'text/html; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.svg', 'image/svg+xml'],
  ['.woff2', 'font/woff2'],
  ['.ttf', 'font/ttf'],
  ['.json', 'application/json'],
  ['.webmanifest', 'application/manifest+json'],
]);

/** Allows nothing from elsewhere, and nothing inline; a frame around it only of `ancestors`. */
const policy = (ancestors: string): string =>
  `default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors ${ancestors}`;
const POLICY = policy("'none'");

/** How the build packs each file, in a file beside it. */
const PACKED = { br: '.br', gzip: '.gz' } as const;
const ENCODINGS = ['br', 'gzip'] as const;
const unpack = promisify(gunzip);

/** Files that are pages of their own, not screens of the console. */
const PAGES: ReadonlyMap<string, string> = new Map([
  ['graphql', 'graphql.html'],
  ['share', 'share.html'],
]);

/** The console's build (CONTRACT 9): files by their path from `/console/`, each perhaps packed as `.br` and `.gz`. */
export class ConsoleFiles {
  /**
   * All files of the build, and no others: no path of a request ever reaches the file system, and a server that has no
   * file descriptor left still answers. What is packed is kept packed only (1.5 MB instead of 4).
   */
  readonly #contents: ReadonlyMap<string, Buffer>;
  /** Files that a client wanted as they are, which is rare: unpacked once, and sent to all from one place. */
  readonly #unpacked = new Map<string, Promise<Buffer>>();
  /** The content security policies of pages that have one of their own. */
  readonly #policies: ReadonlyMap<string, string>;

  /** `framedBy`: origins whose pages may show a public link in a frame (`ALLOWED_ORIGINS`). */
  constructor(framedBy: ReadonlySet<string>) {
    this.#policies = new Map([
      // GraphiQL writes style sheets into its page.
      ['graphql.html', `${POLICY}; style-src 'self' 'unsafe-inline'`],
      ['share.html', policy(framedBy.size === 0 ? "'none'" : [...framedBy].join(' '))],
    ]);
    const folder = FOLDERS.find((path) => existsSync(join(path, 'index.html')));
    const found =
      folder === undefined ? [] : readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true });
    const paths = found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    const names = new Set(paths.map((path) => relative(must(folder), path).replaceAll('\\', '/')));
    const kept = [...names].filter((name) => !names.has(name + PACKED.gzip));
    this.#contents = new Map(kept.map((name) => [name, readFileSync(join(must(folder), name))]));
  }

  /** `GET /console/…`: a file, or the page for every address of the console, which the page itself reads. */
  readonly serve: Handler = (context) => {
    if (context.path === '/console') return context.redirect(ROOT);
    const name = context.path.slice(ROOT.length);
    const isFile = TYPES.has(extname(name)) && this.#has(name);
    if (!isFile && name.startsWith(ASSETS)) return;
    if (!this.#has('index.html')) return;
    return this.#send(context, isFile ? name : (PAGES.get(name.replace(/\/$/, '')) ?? 'index.html'));
  };

  #has(name: string): boolean {
    return this.#contents.has(name) || this.#contents.has(name + PACKED.gzip);
  }

  async #send(context: Koa.Context, name: string): Promise<void> {
    const hashed = name.startsWith(ASSETS);
    context.set('Cache-Control', hashed ? 'public, max-age=31536000, immutable' : 'no-cache');
    context.set('Content-Security-Policy', this.#policies.get(name) ?? POLICY);
    context.set('Referrer-Policy', name === 'share.html' ? 'no-referrer' : 'same-origin');
    context.set('Vary', 'Accept-Encoding');
    context.type = TYPES.get(extname(name)) ?? 'application/octet-stream';
    const packed = ENCODINGS.filter((encoding) => this.#contents.has(name + PACKED[encoding]));
    const encoding = ENCODINGS.find((known) => known === context.acceptsEncodings(...packed, 'identity'));
    if (encoding !== undefined) {
      context.set('Content-Encoding', encoding);
      context.body = this.#contents.get(name + PACKED[encoding]);
    } else context.body = this.#contents.get(name) ?? (await this.#unpack(name));
  }

  #unpack(name: string): Promise<Buffer> {
    let unpacked = this.#unpacked.get(name);
    if (unpacked === undefined) {
      unpacked = unpack(must(this.#contents.get(name + PACKED.gzip)));
      this.#unpacked.set(name, unpacked);
    }
    return unpacked;
  }
}

/** `GET /` leads browsers to the console (CONTRACT 9); other clients find nothing there. */
export const leadToConsole: Handler = (context) => {
  if (context.get('accept').includes('text/html')) context.redirect(ROOT);
};
