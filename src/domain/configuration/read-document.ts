import { badInput } from '../../errors.ts';
import type { Yaml } from '../ports/yaml.ts';
import { excessOf } from '../text/json-text.ts';
import { eachInTurns } from '../../scheduling/yield-to-event-loop.ts';
import { MAX_PRODUCT_NAME } from '../products/new-product.ts';
import { DASHBOARD } from './dashboard-shape.ts';
import { DEVICE } from './device-shape.ts';
import { ENDPOINT } from './endpoint-shape.ts';
import { PRODUCT } from './product-shape.ts';
import { nameOfDevice, nameWithoutKey, numbering, readDeviceReference } from './references.ts';
import { type Block, blocking, type GroupShape, isObject, readGroup, shown, type Tree } from './shape.ts';
import { MEMBER, TOKEN } from './token-shape.ts';
import { text } from './values.ts';

/** Maximum characters of a document; a request of more is refused before, unless MAX_BODY_BYTES was raised. */
export const MAX_DOCUMENT = 16 * 1_048_576;
/** Maximum devices of a document: they are read in one transaction, for which other writers wait. */
export const MAX_DEVICES = 10_000;
/** Maximum levels of a document. */
const MAX_LEVELS = 100;
/** The number of this form of documents. One that leaves it out has this one. */
export const FORMAT = 1;

/** Shapes of the objects in each section of a document, in the order of sections. */
export const SECTIONS = {
  products: PRODUCT,
  endpoints: ENDPOINT,
  dashboards: DASHBOARD,
  tokens: TOKEN,
  members: MEMBER,
  devices: DEVICE,
} as const satisfies Readonly<Record<string, GroupShape>>;

/** The name of a section. */
export type Section = keyof typeof SECTIONS;

/** An object as a document wants it. `name`: by which it is known in its section. */
export interface Asked {
  name: string;
  /** The name that people read, which others may share; null: `name` is unique. */
  sharedName: string | null;
  path: string;
  tree: Tree;
  /** The name of a product without a key that is to get this one's key; null: none. */
  adopts: string | null;
}

/** A document that was read: its objects by section. */
export type DocumentTree = Readonly<Record<Section, readonly Asked[]>>;

/** The value of a document, which is YAML or JSON; BAD_USER_INPUT when it is neither. */
export async function parseDocument(document: string, yaml: Yaml): Promise<unknown> {
  if (document.length > MAX_DOCUMENT)
    throw badInput(`document: ${document.length} characters, at most ${MAX_DOCUMENT} are allowed.`);
  if (/^\s*\{/.test(document)) {
    const excess = excessOf(document, { levels: MAX_LEVELS });
    if (excess !== null) throw badInput(`document: ${excess}.`);
    try {
      return JSON.parse(document) as unknown;
    } catch {
      // YAML has objects in braces, too, and says where the mistake is.
    }
  }
  return yaml.read(document);
}

/** The objects of a document. Each mistake in it is a block, with its path. */
export async function readDocument(value: unknown, blocks: Block[]): Promise<DocumentTree> {
  const document: Record<Section, Asked[]> = {
    products: [],
    endpoints: [],
    dashboards: [],
    tokens: [],
    members: [],
    devices: [],
  };
  if (value === null) return document;
  if (!isObject(value)) throw badInput(`document: expected an object, got ${shown(value)}.`);
  const { format = FORMAT, ...sections } = value;
  if (format !== FORMAT)
    blocks.push({ path: 'format', message: `expected ${FORMAT}, got ${shown(format)}: this server reads no other.` });
  if (Array.isArray(sections['devices']) && sections['devices'].length > MAX_DEVICES)
    throw badInput(`document.devices: at most ${MAX_DEVICES}; send more as a file of devices.`);
  for (const [key, list] of Object.entries(sections)) {
    if (!Object.hasOwn(SECTIONS, key)) {
      const known = ['format', ...Object.keys(SECTIONS)].join(', ');
      blocks.push({ path: key.slice(0, 70), message: `unknown key; there are ${known}.` });
    } else if (Array.isArray(list)) document[key as Section] = await readSection(key as Section, list, blocks);
    else if (list !== null) blocks.push({ path: key, message: `expected a list, got ${shown(list)}.` });
  }
  return document;
}

async function readSection(section: Section, list: unknown[], blocks: Block[]): Promise<Asked[]> {
  const asked: Asked[] = [];
  const nthOf = numbering();
  await eachInTurns(list.entries(), ([index, item]) => {
    const { name, sharedName } = nameOf(section, item);
    if (name === null) {
      readGroup(SECTIONS[section], item, `${section}[${index}]`, blocks);
      return;
    }
    const nth = nthOf(name);
    const own = sharedName === null ? name : nameWithoutKey(sharedName, nth);
    const path = `${section}[${own}]`;
    if (sharedName === null && nth > 1) blocks.push({ path, message: 'is there twice.' });
    const { adopt, ...rest } = item as Record<string, unknown>;
    const isAdopting = section === 'products' && adopt != null;
    const adopts = isAdopting
      ? blocking(blocks, `${path}.adopt`, () => text({ max: MAX_PRODUCT_NAME })(adopt, `${path}.adopt`))
      : null;
    const tree = readGroup(SECTIONS[section], isAdopting ? rest : item, path, blocks);
    if (isAdopting && tree['key'] === undefined)
      blocks.push({ path: `${path}.adopt`, message: 'gives a product the key of this one, which has none.' });
    asked.push({ name: own, sharedName, path, tree, adopts: adopts ?? null });
  });
  return asked;
}

/** The name by which an object is known in its section; null: it has none. */
function nameOf(section: Section, item: unknown): { name: string | null; sharedName: string | null } {
  const { key, name, email } = (isObject(item) ? item : {}) as Record<string, unknown>;
  const quoted = (given: unknown): string | null =>
    typeof given === 'string' && given !== '' ? JSON.stringify(given) : null;
  if (section === 'devices') {
    const { product, serialNumber } = (isObject(item) ? item : {}) as Record<string, unknown>;
    try {
      return { name: quoted(nameOfDevice(readDeviceReference({ product, serialNumber }, ''))), sharedName: null };
    } catch {
      return { name: null, sharedName: null };
    }
  }
  if (section === 'members')
    return { name: quoted(typeof email === 'string' ? email.toLowerCase() : email), sharedName: null };
  const isKeyed = section === 'products' || section === 'endpoints' || section === 'dashboards';
  if (isKeyed && typeof key === 'string' && key !== '')
    return { name: /^[a-z0-9-]+$/.test(key) ? key : JSON.stringify(key), sharedName: null };
  return { name: quoted(name), sharedName: typeof name === 'string' ? name : null };
}
