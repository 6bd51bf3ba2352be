import { badInput } from '../../errors.ts';
import { checkTags } from '../devices/device-input.ts';
import { AGGREGATIONS } from '../ports/series-request.ts';
import type { GivenLevel } from '../rules/check-rule.ts';
import { CONDITION_OPERATORS, MAX_CONDITIONS, SEVERITIES } from '../rules/definition.ts';
import { checkNotify } from '../rules/notify.ts';
import { MAX_RULE_NAME } from '../rules/check-rule.ts';
import { checkAuthorKey } from '../keys/author-key.ts';
import { type EndpointReference, inOrder, nameWithoutKey, readEndpointReference } from './references.ts';
import { type Block, type GroupShape, readGroup, shown, type Tree } from './shape.ts';
import { anyText, flag, number, oneOf, text } from './values.ts';

const OPTIONAL_TEXT = { kind: 'value', read: anyText, otherwise: null } as const;
const VALUE = { kind: 'value', read: scalar, otherwise: null } as const;
const NUMBER = { kind: 'value', read: number, otherwise: null } as const;

const WINDOW: GroupShape = {
  kind: 'group',
  properties: {
    aggregation: { kind: 'value', read: oneOf(AGGREGATIONS), otherwise: null, isRequired: true },
    seconds: { ...NUMBER, isRequired: true },
  },
};
const CIRCLE: GroupShape = {
  kind: 'group',
  properties: { center: { ...OPTIONAL_TEXT, isRequired: true }, meters: { ...NUMBER, isRequired: true } },
};
const CONDITION: GroupShape = {
  kind: 'group',
  properties: {
    field: OPTIONAL_TEXT,
    operator: { kind: 'value', read: oneOf(CONDITION_OPERATORS), otherwise: null },
    value: VALUE,
    otherField: OPTIONAL_TEXT,
    configurationField: OPTIONAL_TEXT,
    clear: VALUE,
    window: WINDOW,
    absentSeconds: NUMBER,
    circle: CIRCLE,
    polygon: { kind: 'value', read: listOf(anyText, 200), otherwise: null },
    from: VALUE,
    to: VALUE,
  },
};
const LEVEL: GroupShape = {
  kind: 'group',
  properties: {
    severity: { kind: 'value', read: oneOf(SEVERITIES), otherwise: null, isRequired: true },
    all: { kind: 'value', read: listOf(whole(CONDITION), MAX_CONDITIONS), otherwise: null },
    any: { kind: 'value', read: listOf(whole(CONDITION), MAX_CONDITIONS), otherwise: null },
  },
};
const SCHEDULE: GroupShape = {
  kind: 'group',
  properties: {
    days: { kind: 'value', read: listOf(anyText, 7), otherwise: null },
    hours: OPTIONAL_TEXT,
    timeZone: { ...OPTIONAL_TEXT, isRequired: true },
  },
};
const NOTIFY: GroupShape = {
  kind: 'group',
  properties: {
    endpoints: { kind: 'value', read: readEndpoints, otherwise: null },
    groupBy: OPTIONAL_TEXT,
    remindEverySeconds: NUMBER,
    maxReminders: NUMBER,
  },
};

/** A rule of a product in a document: by its key, or one without a key by its name. */
export const RULES = {
  kind: 'list',
  by: 'name',
  nameOf: nameOfRule,
  item: {
    kind: 'group',
    properties: {
      key: { kind: 'value', read: (given, path) => checkAuthorKey(anyText(given, path), path), otherwise: null },
      name: { kind: 'value', read: text({ max: MAX_RULE_NAME }), otherwise: null, isRequired: true },
      nth: { kind: 'value', read: readNth, otherwise: 1 },
      enabled: { kind: 'value', read: flag, otherwise: true },
      tags: {
        kind: 'value',
        read: (given, path) => checkTags(listOf(anyText, 1_000)(given, path), path).toSorted(),
        otherwise: [],
      },
      levels: { kind: 'value', read: listOf(whole(LEVEL), SEVERITIES.length), otherwise: null, isRequired: true },
      forSeconds: { kind: 'value', read: number, otherwise: 0 },
      clearForSeconds: { kind: 'value', read: number, otherwise: 0 },
      latched: { kind: 'value', read: flag, otherwise: false },
      schedule: { kind: 'value', read: whole(SCHEDULE), otherwise: null },
      notify: { kind: 'value', read: readNotify, otherwise: null },
    },
  },
} as const satisfies GroupShape['properties'][string];

/** The rule of a document's tree. */
export interface RuleTree {
  key?: string;
  name: string;
  nth?: number;
  enabled?: boolean;
  tags?: string[];
  levels: GivenLevel[];
  forSeconds?: number;
  clearForSeconds?: number;
  latched?: boolean;
  schedule?: { days?: string[]; hours?: string; timeZone: string };
  notify?: { endpoints?: EndpointReference[]; groupBy?: string; remindEverySeconds?: number; maxReminders?: number };
}

/** The name of a rule within its product. */
export function nameOfRule({ key, name, nth }: Tree): string {
  if (typeof key === 'string') return key;
  return nameWithoutKey(typeof name === 'string' ? name : '', typeof nth === 'number' ? nth : 1);
}

/** One object, read as a value. */
function whole(shape: GroupShape): (given: unknown, path: string) => Tree {
  return (given, path) => {
    const blocks: Block[] = [];
    const tree = readGroup(shape, given, path, blocks);
    const [first] = blocks;
    if (first !== undefined) throw badInput(`${first.path}: ${first.message}`);
    return tree;
  };
}

function listOf<T>(read: (given: unknown, path: string) => T, most: number): (given: unknown, path: string) => T[] {
  return (given, path) => {
    if (!Array.isArray(given) || given.length > most)
      throw badInput(`${path}: expected a list of at most ${most}, got ${shown(given)}.`);
    return given.map((one, index) => read(one, `${path}[${index}]`));
  };
}

/** A value to compare with. */
function scalar(given: unknown, path: string): unknown {
  if (typeof given === 'number') return number(given, path);
  if (typeof given !== 'string' && typeof given !== 'boolean')
    throw badInput(`${path}: expected a number, true or false, or a text, got ${shown(given)}.`);
  return given;
}

function readNth(given: unknown, path: string): number {
  const nth = number(given, path);
  if (!Number.isInteger(nth) || nth < 1) throw badInput(`${path}: expected 1 or more, got ${shown(given)}.`);
  return nth;
}

function readEndpoints(given: unknown, path: string): EndpointReference[] {
  return inOrder(listOf(readEndpointReference, 20)(given, path));
}

/** How it tells; null: in the usual way. */
function readNotify(given: unknown, path: string): Tree | null {
  const tree = whole(NOTIFY)(given, path);
  checkNotify({ ...tree }, path);
  return Object.keys(tree).length === 0 ? null : tree;
}
