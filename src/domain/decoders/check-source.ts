import { AppError } from '../../errors.ts';
import type { DecoderEngine, DecoderFailure } from './decoder-engine.ts';

/** The longest decoder source, in bytes of UTF-8 (CONTRACT 5). */
export const MAX_SOURCE_BYTES = 262_144;

/** INVALID_DECODER, with `kind`, `line` and `column` in its details, when the source may not be saved. */
export async function checkSource(engine: DecoderEngine, source: string): Promise<void> {
  const bytes = Buffer.byteLength(source);
  if (bytes > MAX_SOURCE_BYTES)
    throw invalidDecoder({
      kind: 'SYNTAX',
      message: `The source has ${bytes} bytes; the limit is ${MAX_SOURCE_BYTES}.`,
      line: null,
      column: null,
    });
  const bad = source.search(/\0|\p{Surrogate}/u);
  if (bad >= 0) {
    const before = source.slice(0, bad).split('\n');
    throw invalidDecoder({
      kind: 'SYNTAX',
      message: 'The source holds a NUL character or half of a surrogate pair; write it as an escape.',
      line: before.length,
      column: (before.at(-1) ?? '').length + 1,
    });
  }
  const failure = await engine.check(source);
  if (failure !== null) throw invalidDecoder(failure);
}

function invalidDecoder({ kind, message, line, column }: DecoderFailure): AppError {
  const place = line === null ? '' : ` (line ${line}${column === null ? '' : `, column ${column}`})`;
  return new AppError('INVALID_DECODER', `The decoder does not parse: ${message}${place}`, {
    details: { kind, line, column },
  });
}
