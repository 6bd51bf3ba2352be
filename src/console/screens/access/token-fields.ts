/** The identifiers of fields in a text, with blanks or commas between them; null: none. */
export function fieldsIn(text: string): string[] | null {
  const fields = text.split(/[\s,]+/).filter((identifier) => identifier !== '');
  return fields.length === 0 ? null : fields;
}
