import { badInput } from '../../errors.ts';
import { checkJsonDocument } from '../text/json-document.ts';
import { checkOptionalText, checkText } from '../text/text.ts';

const MAX_TAGS = 50;
const MAX_METADATA_BYTES = 65_536;
/** Maximum bytes of a device's configuration, as JSON. */
const MAX_CONFIGURATION_BYTES = 65_536;

/** The input for a new device; `serialNumber` left out: generated. */
export interface NewDevice {
  name: string;
  serialNumber?: string | null;
  tags?: string[] | null;
  metadata?: unknown;
  location?: string | null;
}

/** 1 to 200 characters on one line; else BAD_USER_INPUT naming `path`. */
export function checkDeviceName(name: string, path: string): string {
  return checkText(name, path, { max: 200 });
}

/** Checks a serial number of up to 100 characters: folded, it must fit the column of 200. */
export function checkSerialNumber(serial: string, path: string): string {
  checkText(serial, path, { max: 100 });
  if (serial.trim() !== serial) throw badInput(`${path}: must not begin or end with a blank.`);
  return serial;
}

/** At most 50 different tags of 1 to 100 characters, in their order; else BAD_USER_INPUT naming `path`. */
export function checkTags(tags: readonly string[], path: string): string[] {
  if (tags.length > MAX_TAGS) throw badInput(`${path}: at most ${MAX_TAGS} tags.`);
  const seen = new Set<string>();
  tags.forEach((tag, index) => {
    checkText(tag, `${path}[${index}]`, { max: 100 });
    if (seen.has(tag)) throw badInput(`${path}[${index}]: "${tag}" is there twice.`);
    seen.add(tag);
  });
  return [...tags];
}

/** Any JSON of up to 64 KiB, null when left out; else BAD_USER_INPUT naming `path`. */
export function checkMetadata(metadata: unknown, path: string): unknown {
  return metadata == null ? null : checkJsonDocument(metadata, path, MAX_METADATA_BYTES);
}

/** Key of a configuration field → checked value, as JSON of up to 64 KiB; else BAD_USER_INPUT naming `path`. */
export function checkConfiguration(configuration: Record<string, unknown>, path: string): Record<string, unknown> {
  return checkJsonDocument(configuration, path, MAX_CONFIGURATION_BYTES) as Record<string, unknown>;
}

/** Free text of up to 500 characters, null when empty or left out; else BAD_USER_INPUT naming `path`. */
export function checkLocation(location: string | null | undefined, path: string): string | null {
  return checkOptionalText(location, path, { max: 500, multiline: true });
}
