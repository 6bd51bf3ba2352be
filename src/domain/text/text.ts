import { badInput } from '../../errors.ts';

interface TextRule {
  max: number;
  /** May hold line breaks. */
  multiline?: boolean;
  /** May be empty. */
  optional?: boolean;
}

/**
 * The text itself if both databases can store it and it keeps the rule; else BAD_USER_INPUT naming `path`. Lengths
 * count UTF-16 units.
 */
export function checkText(value: string, path: string, rule: TextRule): string {
  if (!rule.optional && value.trim() === '') throw badInput(`${path}: must not be empty.`);
  if (value.length > rule.max) throw badInput(`${path}: ${value.length} characters, at most ${rule.max} are allowed.`);
  checkStorable(value, path);
  if (!rule.multiline && /[\r\n]/.test(value)) throw badInput(`${path}: must not hold a line break.`);
  return value;
}

/** Like `checkText`; null, undefined and empty text are null. */
export function checkOptionalText(value: string | null | undefined, path: string, rule: TextRule): string | null {
  return value == null || value === '' ? null : checkText(value, path, rule);
}

/** Rejects NUL and unpaired surrogates, which PostgreSQL cannot store. */
export function checkStorable(value: string, path: string): void {
  if (value.includes('\0')) throw badInput(`${path}: must not hold a NUL character.`);
  if (!value.isWellFormed()) throw badInput(`${path}: holds half of a surrogate pair, which is no character.`);
}

/** Folds case for comparisons on both databases: in this process, never by SQL. */
export function foldCase(text: string): string {
  return text.toLowerCase();
}

/** `foldCase` for a search column of `max` characters: folding can lengthen a text. */
export function searchable(text: string, max: number): string {
  const folded = foldCase(text);
  return folded.length <= max ? folded : Array.from(folded).slice(0, max).join('');
}
