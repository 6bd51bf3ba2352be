/**
 * The JSON text of a value, or a text with the same first `characters`. Built only as far as asked: a value may be a
 * megabyte of lists, of which a thousand characters are shown.
 */
export function jsonBeginning(value: unknown, characters: number): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (!Array.isArray(value)) return objectBeginning(value as Record<string, unknown>, characters);
  let text = '[';
  for (let at = 0; at < value.length && text.length < characters; at += 1)
    text += (at === 0 ? '' : ',') + jsonBeginning(value[at], characters - text.length);
  return `${text}]`;
}

function objectBeginning(value: Record<string, unknown>, characters: number): string {
  let text = '{';
  for (const key in value) {
    if (text.length >= characters) break;
    text += `${text === '{' ? '' : ','}${JSON.stringify(key)}:`;
    text += jsonBeginning(value[key], characters - text.length);
  }
  return `${text}}`;
}
