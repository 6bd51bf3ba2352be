import { badInput } from '../../errors.ts';
import type { ConfigurationType } from '../entities/configuration-field.ts';
import { checkStorable } from '../text/text.ts';

const MAX_TEXT = 4096;

/** The value of a configuration field of that type, null when left out; else BAD_USER_INPUT naming `path`. */
export function checkConfigurationValue(type: ConfigurationType, value: unknown, path: string): unknown {
  if (value === null || value === undefined) return null;
  if (type === 'NUMBER' && typeof value === 'number' && Number.isFinite(value)) return value;
  if (type === 'BOOLEAN' && typeof value === 'boolean') return value;
  if (type !== 'STRING' || typeof value !== 'string')
    throw badInput(`${path}: expected a ${type.toLowerCase()} or null.`);
  if (value.length > MAX_TEXT) throw badInput(`${path}: at most ${MAX_TEXT} characters.`);
  checkStorable(value, path);
  return value;
}
