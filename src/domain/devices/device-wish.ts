import { deviceIdentity } from '../text/device-identity.ts';
import { uuidV7 } from '../text/uuid.ts';
import {
  checkDeviceName,
  checkLocation,
  checkMetadata,
  checkSerialNumber,
  checkTags,
  type NewDevice,
} from './device-input.ts';
import { type DeviceRow, rowText } from './device-rows.ts';
import { deviceSearchText, metadataText } from './device-search-text.ts';
import { randomBytes } from 'node:crypto';

/** Decisions about a device that is there already, by its serial number. */
export const ON_EXISTING = ['FAIL', 'KEEP', 'UPDATE'] as const;
/** One of `ON_EXISTING`. */
export type OnExisting = (typeof ON_EXISTING)[number];

/** The checked state of a device to be; parts left out have their default in a new one, and stay in one that is there. */
export interface DeviceWish {
  serialNumber: string;
  name?: string | undefined;
  tags?: string[] | undefined;
  location?: string | null | undefined;
  /** The slug of a plan. */
  plan?: string | undefined;
  /** All of it; null: none. */
  metadata?: unknown;
  /** Keys to set in it; null removes one. */
  metadataKeys?: Readonly<Record<string, unknown>> | undefined;
  /** Key of a configuration field → value; null: the product's default. */
  configuration?: Readonly<Record<string, unknown>> | undefined;
}

/** A wish with the row of a new device, which is made before the transaction. */
export interface PreparedWish {
  wish: DeviceWish;
  identity: string;
  row: DeviceRow;
  /** The row as JSON, for `insertDevices`. */
  text: string;
}

/** Crockford's base 32: no I, L, O, U, so that it survives being read aloud and typed. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const LENGTH = 12;

/** The wish of a device as a client sends it; BAD_USER_INPUT naming `path`. */
export function wishOf(device: NewDevice, plan: string | undefined, path: string): DeviceWish {
  return {
    serialNumber:
      device.serialNumber == null ? newSerialNumber() : checkSerialNumber(device.serialNumber, `${path}.serialNumber`),
    name: checkDeviceName(device.name, `${path}.name`),
    tags: device.tags === undefined ? undefined : checkTags(device.tags ?? [], `${path}.tags`),
    location: device.location === undefined ? undefined : checkLocation(device.location, `${path}.location`),
    metadata: device.metadata === undefined ? undefined : checkMetadata(device.metadata, `${path}.metadata`),
    plan,
  };
}

/** Makes the row that a new device would have, on the plan `plan` unless the wish names one. */
export function prepareWish(wish: DeviceWish, plan: string): PreparedWish {
  const { serialNumber, name = serialNumber, metadataKeys, configuration } = wish;
  const identity = deviceIdentity(serialNumber);
  const { tags = [], location = null, metadata = withKeys({}, metadataKeys) } = wish;
  const row: DeviceRow = {
    id: uuidV7(),
    name,
    serialNumber,
    serialFolded: identity,
    searchText: deviceSearchText({ name, serialNumber, location, tags }, metadataText(metadata)),
    plan: wish.plan ?? plan,
    tags,
    metadata: metadata ?? withKeys({}, metadataKeys),
    location,
    configuration: withKeys({}, configuration),
  };
  return { wish, identity, row, text: rowText(row) };
}

/** The object with the keys set, without those that are null; null when nothing is left. */
export function withKeys(
  object: Readonly<Record<string, unknown>>,
  keys: Readonly<Record<string, unknown>> | undefined,
): Record<string, unknown> | null {
  const entries = Object.entries({ ...object, ...keys }).filter(([, value]) => value !== null);
  return entries.length === 0 ? null : Object.fromEntries(entries);
}

/** A serial number for a device that was created without one: 60 random bits in 12 characters. */
function newSerialNumber(): string {
  return Array.from(randomBytes(LENGTH), (byte) => ALPHABET[byte & 31]).join('');
}
