import { badInput } from '../../errors.ts';
import {
  checkConfiguration,
  checkDeviceName,
  checkLocation,
  checkMetadata,
  checkSerialNumber,
  checkTags,
} from '../devices/device-input.ts';
import { checkOfflineAfter } from '../devices/offline-after.ts';
import { checkWriteRate } from '../devices/write-rate-service.ts';
import { DEFAULT_PLAN, PLAN_SLUGS } from '../plans/plans.ts';
import { sortedJson } from '../text/json-text.ts';
import { readProductReference } from './references.ts';
import { type GroupShape, isObject, shown } from './shape.ts';
import { anyText, number, oneOf } from './values.ts';

/** A device of a document, known by its product and serial number. */
export const DEVICE: GroupShape = {
  kind: 'group',
  properties: {
    product: { kind: 'value', read: readProductReference, otherwise: null, isRequired: true },
    serialNumber: {
      kind: 'value',
      read: (given, path) => checkSerialNumber(anyText(given, path), path),
      otherwise: null,
      isRequired: true,
    },
    name: {
      kind: 'value',
      read: (given, path) => checkDeviceName(anyText(given, path), path),
      otherwise: null,
      isRequired: true,
    },
    plan: { kind: 'value', read: oneOf(PLAN_SLUGS), otherwise: DEFAULT_PLAN },
    tags: { kind: 'value', read: readTags, otherwise: [] },
    location: { kind: 'value', read: (given, path) => checkLocation(anyText(given, path), path), otherwise: null },
    offlineAfterSeconds: {
      kind: 'value',
      read: (given, path) => checkOfflineAfter(number(given, path), path),
      otherwise: null,
    },
    writeRate: { kind: 'value', read: (given, path) => checkWriteRate(number(given, path), path), otherwise: null },
    configuration: { kind: 'value', read: readConfiguration, otherwise: {} },
    metadata: { kind: 'value', read: (given, path) => sortedJson(checkMetadata(given, path)), otherwise: null },
  },
};

function readTags(given: unknown, path: string): string[] {
  if (!Array.isArray(given)) throw badInput(`${path}: expected a list of texts, got ${shown(given)}.`);
  return checkTags(
    given.map((tag, index) => anyText(tag, `${path}[${index}]`)),
    path,
  );
}

function readConfiguration(given: unknown, path: string): unknown {
  if (!isObject(given)) throw badInput(`${path}: expected an object of identifiers and values, got ${shown(given)}.`);
  const values = Object.entries(given).filter(([, value]) => value !== null);
  return sortedJson(checkConfiguration(Object.fromEntries(values), path));
}
