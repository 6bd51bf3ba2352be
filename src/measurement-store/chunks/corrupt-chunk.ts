/** The bytes of a chunk are not those that `encode` wrote; the message says what was found. */
export class CorruptChunk extends Error {
  override readonly name = 'CorruptChunk';

  constructor(what: string) {
    super(`A chunk of measurements cannot be read: ${what}.`);
  }
}
