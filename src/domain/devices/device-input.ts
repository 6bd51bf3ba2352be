import { badInput } from '../../errors.ts';
import { checkJsonDocument } from '../json-document.ts';
import { checkOptionalText, checkText, foldCase } from '../text.ts';

const MAX_TAGS = 50;
const MAX_METADATA_BYTES = 65_536;

export interface NewDevice {
  name: string;
  serialNumber?: string | null;
  tags?: string[] | null;
  metadata?: unknown;
  location?: string | null;
}

export function checkDeviceName(name: string, path: string): string {
  return checkText(name, path, { max: 200 });
}

/** Up to 100 characters: folding its case must still fit the column of 200. */
export function checkSerialNumber(serial: string, path: string): string {
  checkText(serial, path, { max: 100 });
  if (serial.trim() !== serial) throw badInput(`${path}: must not begin or end with a blank.`);
  return serial;
}

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

export function checkMetadata(metadata: unknown, path: string): unknown {
  return metadata == null ? null : checkJsonDocument(metadata, path, MAX_METADATA_BYTES);
}

export function checkLocation(location: string | null | undefined, path: string): string | null {
  return checkOptionalText(location, path, { max: 500, multiline: true });
}

/** What `Device.searchText` holds. */
export function deviceSearchText(name: string, serialNumber: string): string {
  return foldCase(`${name}\n${serialNumber}`);
}
