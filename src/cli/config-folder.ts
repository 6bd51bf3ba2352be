import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { jsonOfYaml, YamlMistake, yamlOf } from '../yaml/yaml-text.ts';

/** Files of endpoints, dashboards, tokens and members, and of devices. */
const WORKSPACE_FILE = 'inlet.yaml';
const DEVICES_FILE = 'devices.yaml';
const PRODUCTS = 'products';

type Tree = Record<string, unknown>;

/** A configuration as files: `inlet.yaml`, `devices.yaml` if asked for, and one for each product with its decoder beside it as `.js`. */
export class ConfigFolder {
  readonly #path: string;
  /** File of each product, by its name in paths. */
  readonly files = new Map<string, string>();

  constructor(path: string) {
    this.#path = path;
  }

  /** The document that the files are. Throws naming the file that cannot be read. */
  read(): Tree {
    const workspace = join(this.#path, WORKSPACE_FILE);
    const files = this.#productFiles();
    const hasWorkspace = existsSync(workspace);
    if (files.length === 0 && !hasWorkspace)
      throw new Error(
        `${this.#path} has neither ${WORKSPACE_FILE} nor ${PRODUCTS}/*.yaml; "inlet config export" makes them`,
      );
    const devices = join(this.#path, DEVICES_FILE);
    const document: Tree = {
      ...(hasWorkspace ? objectIn(workspace) : {}),
      ...(existsSync(devices) ? objectIn(devices) : {}),
    };
    if (document['products'] !== undefined)
      throw new Error(`${workspace}: products have files of their own in ${PRODUCTS}/`);
    const products = files.map((file) => {
      const product = this.#productIn(file);
      const place = placeOf(product);
      const other = this.files.get(place);
      if (other !== undefined && typeof product['key'] === 'string')
        throw new Error(`${file}: has the key of ${other}`);
      this.files.set(place, file);
      return product;
    });
    return { ...document, products };
  }

  /**
   * Writes a document as files, over those that are there. A file that says the same already stays as it is, with its
   * comments. Returns the files of products that the document does not have, which stay, too.
   */
  write(document: Tree): { written: string[]; others: string[] } {
    const { products = [], devices, ...rest } = document as { products?: Tree[]; devices?: Tree[] };
    const written: string[] = [];
    const known = new Map<string, string[]>();
    for (const file of this.#productFiles()) {
      const place = placeOf(objectIn(file));
      known.set(place, [...(known.get(place) ?? []), file]);
    }
    const taken = new Set([...known.values()].flat());
    mkdirSync(join(this.#path, PRODUCTS), { recursive: true });
    this.#put(join(this.#path, WORKSPACE_FILE), rest, written);
    if (devices !== undefined) this.#put(join(this.#path, DEVICES_FILE), { devices }, written);
    for (const product of products) {
      const file = known.get(placeOf(product))?.shift() ?? this.#freeFile(product, taken);
      taken.add(file);
      this.#putProduct(file, product, written);
    }
    return { written, others: [...known.values()].flat() };
  }

  #productFiles(): string[] {
    const folder = join(this.#path, PRODUCTS);
    if (!existsSync(folder)) return [];
    return readdirSync(folder)
      .filter((name) => /\.ya?ml$/.test(name))
      .toSorted()
      .map((name) => join(folder, name));
  }

  #productIn(file: string): Tree {
    const product = objectIn(file);
    const { decoder } = product;
    if (typeof decoder !== 'object' || decoder === null || !Object.hasOwn(decoder, 'file')) return product;
    const { file: name, ...more } = decoder as Tree;
    if (typeof name !== 'string' || Object.hasOwn(more, 'source'))
      throw new Error(`${file}: decoder.file: expected the name of a file, and no source beside it`);
    const path = resolve(dirname(file), name);
    if (relative(resolve(this.#path), path).startsWith('..'))
      throw new Error(`${file}: decoder.file: ${name} lies outside of ${this.#path}`);
    if (!existsSync(path)) throw new Error(`${file}: decoder.file: there is no file ${name}`);
    return { ...product, decoder: { source: readFileSync(path, 'utf8'), ...more } };
  }

  #putProduct(file: string, product: Tree, written: string[]): void {
    const { source, ...decoder } = (product['decoder'] ?? {}) as Tree;
    if (typeof source !== 'string') return this.#put(file, product, written);
    const before = existsSync(file) ? ((objectIn(file)['decoder'] ?? {}) as Tree)['file'] : undefined;
    const name = typeof before === 'string' ? before : basename(file).replace(/\.ya?ml$/, '.js');
    const path = resolve(dirname(file), name);
    if (!existsSync(path) || readFileSync(path, 'utf8') !== source) {
      writeFileSync(path, source);
      written.push(path);
    }
    this.#put(file, { ...product, decoder: { file: name, ...decoder } }, written);
  }

  #put(file: string, tree: Tree, written: string[]): void {
    if (existsSync(file) && JSON.stringify(objectIn(file)) === JSON.stringify(tree)) return;
    writeFileSync(file, yamlOf(tree));
    written.push(file);
  }

  #freeFile(product: Tree, taken: ReadonlySet<string>): string {
    const words = String(product['key'] ?? product['name'])
      .normalize('NFKD')
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '');
    for (let at = 1; ; at += 1) {
      const name = `${words === '' ? 'product' : words.slice(0, 64)}${at === 1 ? '' : `-${at}`}.yaml`;
      const file = join(this.#path, PRODUCTS, name);
      if (!taken.has(file)) return file;
    }
  }
}

/** The name of a product in paths. */
function placeOf({ key, name }: Tree): string {
  return typeof key === 'string' ? key : JSON.stringify(name);
}

function objectIn(file: string): Tree {
  try {
    const value = JSON.parse(jsonOfYaml(readFileSync(file, 'utf8'))) as unknown;
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Tree;
  } catch (error) {
    throw error instanceof YamlMistake ? new Error(`${file}: ${error.message}`, { cause: error }) : error;
  }
  throw new Error(`${file}: expected an object`);
}
