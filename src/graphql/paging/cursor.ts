import { seal, unseal } from '../../domain/text/sealed-text.ts';
import { badInput } from '../../errors.ts';

/** The content of a cursor: the values of the sort key of the last row seen. */
export type CursorKey = (string | number)[];

/** Opaque text of a place in a list. `kind` keeps one list's cursors out of another. */
export function encodeCursor(kind: string, key: CursorKey): string {
  return seal(JSON.stringify([kind, ...key]));
}

/**
 * The key of a cursor of this kind; `shape` says what each part is. BAD_USER_INPUT for anything else. The parts are
 * the client's: as untrusted as any other argument.
 */
export function decodeCursor(kind: string, text: string, shape: readonly ('string' | 'number')[]): CursorKey {
  const [actualKind, ...key] = parse(text);
  if (actualKind !== kind || key.length !== shape.length || !key.every((part, i) => isPart(part, shape[i])))
    throw badInput('"after" is no cursor of this list; pass an endCursor or an edge\'s cursor of the same list.');
  return key as CursorKey;
}

function isPart(part: unknown, type: 'string' | 'number' | undefined): boolean {
  if (type === 'number') return Number.isSafeInteger(part);
  // NUL cannot be written to the databases.
  return type === 'string' && typeof part === 'string' && !part.includes('\0');
}

function parse(text: string): unknown[] {
  try {
    const content = unseal(text);
    return content === null ? [] : (JSON.parse(content) as unknown[]);
  } catch {
    return [];
  }
}
