import { badInput } from '../../errors.ts';
import { MAX_SOURCE_BYTES } from '../decoders/check-source.ts';
import { readExpected } from '../decoders/example-check.ts';
import { MAX_EXAMPLE_PART } from '../decoders/example-rows.ts';
import { checkOfflineAfter } from '../devices/offline-after.ts';
import { checkWriteRate } from '../devices/write-rate-service.ts';
import { CONFIGURATION_TYPES, type ConfigurationType } from '../entities/configuration-field.ts';
import { FIELD_IDENTIFIER, FIELD_MEANINGS, FIELD_ROLES, FIELD_TYPES } from '../entities/field.ts';
import { DEVICE_TYPES } from '../entities/product.ts';
import { readWebhookAnswer } from '../entities/webhook-answer.ts';
import { checkAuthorKey } from '../keys/author-key.ts';
import { checkConfigurationValue } from '../products/configuration-value.ts';
import { checkDashboard, EMPTY_DASHBOARD } from '../products/dashboard.ts';
import { checkDisplay } from '../products/field-display.ts';
import { checkNewField, FIELD_TEXTS, type NewField } from '../products/new-field.ts';
import { checkTimeZone, MAX_PRODUCT_NAME } from '../products/new-product.ts';
import { MAX_ALIASES } from '../products/rename-field.ts';
import { sortedJson } from '../text/json-text.ts';
import { checkStorable } from '../text/text.ts';
import { itemsOf, normalOf } from './normal-form.ts';
import { RULES } from './rule-shape.ts';
import { settledRules } from './rule-tree.ts';
import { type GroupShape, isObject, shown, type Tree } from './shape.ts';
import { anyJson, anyText, flag, number, oneOf, optionalText, text } from './values.ts';

const NAMES = {
  name: { kind: 'value', read: optionalText(FIELD_TEXTS.name), otherwise: null },
  description: { kind: 'value', read: optionalText(FIELD_TEXTS.description), otherwise: null },
} as const;

const FIELD: GroupShape = {
  kind: 'group',
  properties: {
    identifier: { kind: 'value', read: identifier, otherwise: null, isRequired: true },
    type: { kind: 'value', read: oneOf(FIELD_TYPES), otherwise: null, isRequired: true },
    name: NAMES.name,
    unit: { kind: 'value', read: optionalText(FIELD_TEXTS.unit), otherwise: null },
    description: NAMES.description,
    role: { kind: 'value', read: oneOf(FIELD_ROLES), otherwise: null },
    meaning: { kind: 'value', read: oneOf(FIELD_MEANINGS), otherwise: 'GAUGE' },
    overflowAt: { kind: 'value', read: number, otherwise: null },
    display: { kind: 'value', read: readDisplay, otherwise: null },
    aliases: { kind: 'value', read: readAliases, otherwise: [] },
  },
  check: (tree, path) => void checkNewField(tree as Tree & NewField, path),
};

const CONFIGURATION_FIELD: GroupShape = {
  kind: 'group',
  properties: {
    identifier: { kind: 'value', read: identifier, otherwise: null, isRequired: true },
    type: { kind: 'value', read: oneOf(CONFIGURATION_TYPES), otherwise: null, isRequired: true },
    ...NAMES,
    default: { kind: 'value', read: (given) => given, otherwise: null },
  },
  check: ({ type, default: value }, path) =>
    void checkConfigurationValue(type as ConfigurationType, value, `${path}.default`),
};

const EXAMPLE: GroupShape = {
  kind: 'group',
  properties: {
    name: { kind: 'value', read: text({ max: 200 }), otherwise: null, isRequired: true },
    request: { kind: 'value', read: readRequest, otherwise: null, isRequired: true },
    expected: {
      kind: 'value',
      read: (given, path) => sortedJson(readExpected(anyJson(MAX_EXAMPLE_PART)(given, path), path)),
      otherwise: null,
      isRequired: true,
    },
  },
};

/** A product of a document: all that its author decides, and nothing that the server made. */
export const PRODUCT: GroupShape = {
  kind: 'group',
  settle,
  properties: {
    key: { kind: 'value', read: (given, path) => checkAuthorKey(anyText(given, path), path), otherwise: null },
    name: { kind: 'value', read: text({ max: MAX_PRODUCT_NAME }), otherwise: null, isRequired: true },
    deviceType: { kind: 'value', read: oneOf(DEVICE_TYPES), otherwise: 'API' },
    offlineAfterSeconds: {
      kind: 'value',
      read: (given, path) => checkOfflineAfter(number(given, path), path),
      otherwise: null,
    },
    ignoreZeroPlaces: { kind: 'value', read: flag, otherwise: false },
    timeZone: { kind: 'value', read: (given, path) => checkTimeZone(anyText(given, path), path), otherwise: null },
    writeRate: { kind: 'value', read: (given, path) => checkWriteRate(number(given, path), path), otherwise: null },
    answer200: { kind: 'value', read: flag, otherwise: false },
    webhookAnswer: { kind: 'value', read: readAnswer, otherwise: null },
    fields: { kind: 'list', by: 'identifier', item: FIELD },
    configurationFields: { kind: 'list', by: 'identifier', item: CONFIGURATION_FIELD },
    rules: RULES,
    decoder: {
      kind: 'group',
      properties: {
        source: { kind: 'part', read: readSource, otherwise: null },
        examples: { kind: 'list', by: 'name', item: EXAMPLE },
      },
    },
    dashboard: {
      kind: 'part',
      read: (given, path) => sortedJson(checkDashboard(given, path)),
      otherwise: EMPTY_DASHBOARD,
    },
  },
};

function identifier(given: unknown, path: string): string {
  const name = anyText(given, path);
  if (!FIELD_IDENTIFIER.test(name)) throw badInput(`${path}: expected 1 to 64 characters of A-Z a-z 0-9 _ -.`);
  return name;
}

function settle(target: Tree, wanted: Tree): Tree {
  const settled = withoutTakenAliases(target, wanted);
  return settled['rules'] === undefined ? settled : normalOf(PRODUCT, { ...settled, rules: settledRules(settled) });
}

/** A field that the document names takes its identifier over from one that had it before, as `FieldService.add`. */
function withoutTakenAliases(target: Tree, wanted: Tree): Tree {
  const fields = itemsOf(target['fields']);
  if (fields.every(({ aliases }) => aliases === undefined)) return target;
  const names = new Set(fields.map((field) => field['identifier']));
  const named = new Set(itemsOf(wanted['fields']).map((field) => field['identifier']));
  const settled = fields.map((field) => {
    const aliases = (field['aliases'] ?? []) as string[];
    if (named.has(field['identifier']) || !aliases.some((alias) => names.has(alias))) return field;
    return { ...field, aliases: aliases.filter((alias) => !names.has(alias)) };
  });
  return normalOf(PRODUCT, { ...target, fields: settled });
}

/** Earlier identifiers of a field, under which senders may go on. */
function readAliases(given: unknown, path: string): string[] {
  if (!Array.isArray(given) || given.length > MAX_ALIASES)
    throw badInput(`${path}: expected a list of at most ${MAX_ALIASES} identifiers, got ${shown(given)}.`);
  return [...new Set(given.map((one, index) => identifier(one, `${path}[${index}]`)))].toSorted();
}

/** The look of a field's values in its one form; that it fits the type is checked with the field. */
function readDisplay(given: unknown, path: string): unknown {
  const text = checkDisplay(null, given, path);
  return text === null ? null : JSON.parse(text);
}

/** The source of a decoder, which is checked by running it. */
function readSource(given: unknown, path: string): string {
  const source = anyText(given, path);
  checkStorable(source, path);
  if (Buffer.byteLength(source) > MAX_SOURCE_BYTES) throw badInput(`${path}: at most ${MAX_SOURCE_BYTES} bytes.`);
  return source;
}

const OF_REQUEST = ['method', 'path', 'headers', 'body'];

function readRequest(given: unknown, path: string): Tree {
  if (!isObject(given)) throw badInput(`${path}: expected an object, got ${shown(given)}.`);
  for (const [key, value] of Object.entries(given)) {
    if (!OF_REQUEST.includes(key))
      throw badInput(`${path}.${key.slice(0, 70)}: unknown key; there are ${OF_REQUEST.join(', ')}.`);
    if (key !== 'headers' && value !== null) anyText(value, `${path}.${key}`);
  }
  return withoutNulls(anyJson(MAX_EXAMPLE_PART)(given, path) as Tree);
}

/** A request of an example in its one form. */
export function requestTree(stored: Tree): Tree {
  return withoutNulls(sortedJson(stored) as Tree);
}

function withoutNulls(tree: Tree): Tree {
  return Object.fromEntries(Object.entries(tree).filter(([, value]) => value !== null));
}

/** The answer in its one form, in which a text is a body as it is. */
function readAnswer(given: unknown, path: string): unknown {
  const answer = readWebhookAnswer(given);
  if (typeof answer === 'string') throw badInput(`${path}: ${answer}`);
  return { ...answer };
}
