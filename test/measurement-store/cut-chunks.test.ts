import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { decode } from '../../src/measurement-store/chunks/codec.ts';
import { cutChunks } from '../../src/measurement-store/chunks/cut-chunks.ts';

/** That cannot be compressed by more than a quarter. */
const text = (bytes: number): string => randomBytes(bytes).toString('base64');

test.each([true, false])(
  'texts of any size are cut into chunks that have all of them, none empty (filled: %s)',
  (filled) => {
    for (let count = 1; count <= 6; count++)
      for (let bytes = 100; bytes <= 4_500; bytes += 100) {
        const values = Array.from({ length: count }, () => text(bytes));
        const chunks = cutChunks(7, { timestamps: Float64Array.from(values, (_, i) => 1_000 * i), values }, filled);
        expect(chunks.map((chunk) => chunk.count)).not.toContain(0);
        expect(chunks.flatMap((chunk) => decode(chunk.bytes).values as string[])).toEqual(values);
      }
  },
);
