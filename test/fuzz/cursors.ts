import { encodeCursor as encodePageCursor } from '../../src/graphql/paging/cursor.ts';
import { seal, unseal } from '../../src/domain/text/sealed-text.ts';
import type { Chance } from './chance.ts';

/** Places in the order of commits: of SQLite, of PostgreSQL, of the future, and none at all. */
const POSITIONS = [
  '0', '1', '3', '-1', '1e3', '0x10', 'NaN', 'Infinity', '', ' 1', '999999999999999', '9007199254740993', '18446744073709551616', '1'.repeat(3000),
  '1:1:', '0:0:', '5:3:', '1:3:2', '1:3:9', '1:3:2,2', '3:9:8,4', '700:9223372036854775807:', '9999999999999999999:9999999999999999999:', '1:99999999:',
  `1:900:${Array.from({ length: 199 }, (_, at) => at + 2).join(',')}`, "1:1:'); DROP TABLE reading; --",
]; // oxfmt-ignore
const SEQS = ['0', '1', '9223372036854775808', '9999999999999999999', '-1', '', 'x', 1];
const KEYS = [0, 1, 2, 2 ** 31 - 1, 2 ** 31, -1, 0.5, '1', null];
const TIMES = [0, 1767225600000, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 2 ** 53, 1e300, '1', null];
const MAX_REAL = 200;

/**
 * Cursors of `measurementsRecorded` that the server gave, and what somebody could make of them: also somebody who holds
 * the installation's key, as a restored or another database of the same installation does (`sealWith` it first).
 */
export class Cursors {
  readonly #real: string[] = [];

  get count(): number {
    return this.#real.length;
  }

  /** One that an event came with. */
  add(cursor: string): void {
    this.#real.push(cursor);
    if (this.#real.length > MAX_REAL) this.#real.shift();
  }

  /** `ids`: sealed texts of other kinds among them. */
  forged(chance: Chance, ids: readonly string[]): string {
    const real = this.#real.length === 0 ? '' : chance.pick(this.#real);
    switch (chance.int(9)) {
      case 0:
        // Perhaps of what its bearer may not read.
        return real;
      case 1:
        return chance.mutated(real);
      case 2:
        return this.#oneLetterOff(real, chance);
      case 3:
        return chance.pick([chance.text(), 'A'.repeat(chance.int(900_000)), real.repeat(chance.int(50)), `${real}=`]);
      case 4:
        return chance.pick([unseal(real) ?? '', base64(chance.json()), ...ids.slice(0, 20)]);
      case 5:
        return encodePageCursor(chance.pick(['devices', 'calls', 'measurements']), [chance.number(), chance.text()]);
      case 6:
        return seal(chance.of(0.5) ? chance.mutated(unseal(real) ?? '') : chance.text());
      case 7:
        return seal(base64([this.#position(real, chance)]));
      default:
        return seal(base64([this.#position(real, chance), this.#position(real, chance), chance.pick(SEQS), chance.pick(KEYS), chance.pick(TIMES)])); // oxfmt-ignore
    }
  }

  #oneLetterOff(real: string, chance: Chance): string {
    const at = chance.int(real.length + 1);
    return real.slice(0, at) + chance.pick(['A', 'b', '7', '-', '_']) + real.slice(at + 1);
  }

  /** One of the server's own, some steps back or ahead, or any. */
  #position(real: string, chance: Chance): string {
    const [own] = partsOf(real);
    if (own === undefined || chance.of(0.6)) return chance.pick(POSITIONS);
    const step = chance.pick([-1, 1, 2, 1000, 10 ** 9]);
    return own.replaceAll(/\d+/g, (digits) => String(Number(digits) + (chance.of(0.5) ? step : 0)));
  }
}

function base64(content: unknown): string {
  return Buffer.from(JSON.stringify(content)).toString('base64url');
}

function partsOf(real: string): string[] {
  const content = unseal(real);
  return content === null ? [] : (JSON.parse(Buffer.from(content, 'base64url').toString()) as string[]);
}
