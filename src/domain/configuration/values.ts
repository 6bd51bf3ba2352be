import { badInput } from '../../errors.ts';
import { checkJsonDocument } from '../text/json-document.ts';
import { sortedJson } from '../text/json-text.ts';
import { checkText } from '../text/text.ts';
import { shown } from './shape.ts';

interface TextRule {
  max: number;
  multiline?: boolean;
}

type Read<T> = (given: unknown, path: string) => T;

/** A text as it is. */
export const anyText: Read<string> = (given, path) => {
  if (typeof given !== 'string')
    throw badInput(
      `${path}: expected a text, got ${shown(given)}${typeof given === 'object' ? '' : '; write it in quotes'}.`,
    );
  return given;
};

/** A text that keeps the rule. */
export function text(rule: TextRule): Read<string> {
  return (given, path) => checkText(anyText(given, path), path, rule);
}

/** A text that keeps the rule, null when it is empty. */
export function optionalText(rule: TextRule): Read<string | null> {
  return (given, path) => (given === '' ? null : text(rule)(given, path));
}

/** true or false. */
export const flag: Read<boolean> = (given, path) => {
  if (typeof given !== 'boolean') throw badInput(`${path}: expected true or false, got ${shown(given)}.`);
  return given;
};

/** A finite number; there is one zero. */
export const number: Read<number> = (given, path) => {
  if (typeof given !== 'number' || !Number.isFinite(given))
    throw badInput(`${path}: expected a number, got ${shown(given)}.`);
  // There is one zero in JSON and in the databases.
  return given === 0 ? 0 : given;
};

/** One of some words. */
export function oneOf<T extends string>(words: readonly T[]): Read<T> {
  return (given, path) => {
    if (!words.includes(given as T))
      throw badInput(`${path}: expected one of ${words.join(', ')}, got ${shown(given)}.`);
    return given as T;
  };
}

/** Any JSON of at most so many bytes, the keys of its objects in one order. */
export function anyJson(maxBytes: number): Read<unknown> {
  return (given, path) => sortedJson(checkJsonDocument(given, path, maxBytes));
}
