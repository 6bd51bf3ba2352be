import { badInput } from '../../errors.ts';

/** An object with these keys and no others; `optional` null: with any others. */
export function object(
  value: unknown,
  path: string,
  required: readonly string[],
  optional: readonly string[] | null,
): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw badInput(`${path}: expected an object, got ${shown(value)}.`);
  const missing = required.find((key) => !Object.hasOwn(value, key));
  if (missing !== undefined) throw badInput(`${path}.${missing}: is missing.`);
  const known = optional && [...required, ...optional];
  const unknown = known && Object.keys(value).find((key) => !known.includes(key));
  if (unknown != null) throw badInput(`${path}.${unknown.slice(0, 50)}: unknown; there are ${known?.join(', ')}.`);
  return value as Record<string, unknown>;
}

/** A list of at most `max` items. */
export function list(value: unknown, path: string, max: number): unknown[] {
  if (!Array.isArray(value)) throw badInput(`${path}: expected a list, got ${shown(value)}.`);
  if (value.length > max) throw badInput(`${path}: at most ${max} items are allowed.`);
  return value;
}

/** A text of any length. */
export function text(value: unknown, path: string): string {
  if (typeof value !== 'string') throw badInput(`${path}: expected a text, got ${shown(value)}.`);
  return value;
}

/** A finite number. */
export function number(value: unknown, path: string): number {
  if (typeof value !== 'number' || !Number.isFinite(value))
    throw badInput(`${path}: expected a number, got ${shown(value)}.`);
  return value;
}

/** One of the choices. */
export function choice(value: unknown, path: string, choices: readonly string[]): void {
  if (!(choices as readonly unknown[]).includes(value))
    throw badInput(`${path}: expected one of ${choices.join(', ')}, got ${shown(value)}.`);
}

/** The begin of a value as JSON, for messages. */
export function shown(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 60);
}
