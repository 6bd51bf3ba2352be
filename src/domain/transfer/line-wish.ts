import { badInput } from '../../errors.ts';
import {
  checkConfiguration,
  checkDeviceName,
  checkLocation,
  checkMetadata,
  checkSerialNumber,
  checkTags,
} from '../devices/device-input.ts';
import type { DeviceWish } from '../devices/device-wish.ts';
import type { ConfigurationType } from '../entities/configuration-field.ts';
import type { Plans } from '../plans/plans.ts';
import { checkConfigurationValue } from '../products/configuration-value.ts';
import type { DeviceParts } from './device-lines.ts';
import { must } from '../../must.ts';

/** A configuration field of the product. */
interface KnownField {
  key: number;
  type: ConfigurationType;
}

/** Numbers as a spreadsheet writes long ones, whose digits are lost. */
const SHORTENED = /^\d(?:[.,]\d+)?E\+\d+$/i;
const TRUE = /^(?:true|yes|on|1)$/i;
const FALSE = /^(?:false|no|off|0)$/i;

/** The checked wish of a line of a file; BAD_USER_INPUT naming the part that is wrong. */
export function lineWish(parts: DeviceParts, fields: ReadonlyMap<string, KnownField>, plans: Plans): DeviceWish {
  const { serialNumber, name, tags, location, plan, metadata, metadataKeys, configuration } = parts;
  if (name === null) throw badInput('name: cannot be cleared; leave it out to keep it.');
  return {
    serialNumber: serialOf(serialNumber),
    name: name === undefined ? undefined : checkDeviceName(textOf(name, 'name'), 'name'),
    tags: tags === undefined ? undefined : checkTags(tagsOf(tags), 'tags'),
    location: location == null ? location : checkLocation(textOf(location, 'location'), 'location'),
    plan: plan == null ? undefined : plans.bySlug(textOf(plan, 'plan'), 'plan').slug,
    metadata,
    metadataKeys: metadataKeys && (checkMetadata(plain(metadataKeys), 'metadata') as Record<string, unknown>),
    configuration: configuration && configurationOf(configuration, fields),
  };
}

/** The serial number as text, also when it was written as a number. */
export function serialText(serialNumber: unknown): string | null {
  if (typeof serialNumber === 'number') return String(serialNumber);
  return typeof serialNumber === 'string' ? serialNumber : null;
}

function serialOf(given: unknown): string {
  const serial = serialText(given);
  if (serial === null || serial === '')
    throw badInput('serialNumber: is missing; by it the line is known when the file is sent again.');
  if (SHORTENED.test(serial))
    throw badInput(
      `serialNumber: "${serial}" is what a spreadsheet makes of a long number, and its digits are lost: ` +
        'format the column as text and type it anew.',
    );
  return checkSerialNumber(serial, 'serialNumber');
}

function textOf(value: unknown, path: string): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') throw badInput(`${path}: expected a text.`);
  return value;
}

/** A list, or a text with commas or semicolons between; null: none. */
function tagsOf(tags: unknown): string[] {
  if (tags === null) return [];
  if (Array.isArray(tags)) return tags.map((tag) => textOf(tag, 'tags'));
  const words = textOf(tags, 'tags').split(/[,;]/);
  return words.map((word) => word.trim()).filter((word) => word !== '');
}

function configurationOf(
  given: Readonly<Record<string, unknown>>,
  fields: ReadonlyMap<string, KnownField>,
): Record<string, unknown> {
  const entries = Object.entries(given).map(([identifier, value]) => {
    const { key, type } = must(fields.get(identifier));
    return [String(key), checkConfigurationValue(type, read(type, value), `configuration.${identifier}`)] as const;
  });
  return checkConfiguration(Object.fromEntries(entries), 'configuration');
}

/** A cell of a CSV as the type of its field; other values as they are. */
function read(type: ConfigurationType, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const text = value.trim();
  if (type === 'BOOLEAN') return TRUE.test(text) ? true : FALSE.test(text) ? false : value;
  if (type === 'STRING') return value;
  const number = /^[-+]?\d+,\d+$/.test(text) ? text.replace(',', '.') : text;
  return number === '' || !Number.isFinite(Number(number)) ? value : Number(number);
}

function plain(keyed: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(keyed));
}
