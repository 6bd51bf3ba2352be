import { EventLoopQueue } from '../../scheduling/event-loop-queue.ts';
import { answerBytes } from '../context/answer-size.ts';
import { answerTooLarge, MAX_ANSWER_BYTES } from '../context/work-budget.ts';
import { StoredJson } from '../context/stored-json.ts';

/**
 * A longer answer is written piece by piece: of ten megabytes at once everybody else would wait for 50 ms, and for 8 ms of
 * 64 KB that have to be parsed first.
 */
export const LARGE_BYTES = 262_144;
/** About a millisecond each. */
const PIECE_BYTES = 131_072;
/** Others have their turn after so long. */
const GIVES_WAY_AFTER_MS = 4;
const LINE_END = Buffer.from('\n');
/** Characters that are escaped take up to six bytes, and are counted as one: so much longer than counted an answer may be. */
const MOST_WRITTEN = 2 * MAX_ANSWER_BYTES;

/** Writes large answers as JSON: all of them one piece after the other, and between pieces others have their turn. */
export class LargeAnswers {
  readonly #turns = new EventLoopQueue(GIVES_WAY_AFTER_MS);

  /**
   * The answer as JSON in UTF-8, with a line end; what `check` throws ends it: nobody waits for it any more. Throws
   * QUERY_TOO_COMPLEX when it is much longer than it was counted.
   */
  async write(answer: unknown, check: () => void): Promise<Buffer> {
    const [pieces, written]: [Iterator<string>, Buffer[]] = [jsonPieces(answer), []];
    const next = (): Promise<Buffer | null> =>
      this.#turns.run(async () => {
        check();
        const piece = pieces.next();
        return piece.done === true ? null : Buffer.from(piece.value);
      });
    let length = 0;
    for (let bytes = await next(); bytes !== null; bytes = await next()) {
      length += bytes.length;
      if (length > MOST_WRITTEN) throw answerTooLarge();
      written.push(bytes);
    }
    written.push(LINE_END);
    return Buffer.concat(written);
  }
}

/** A written answer with the errors beside its data, if there are any. */
export function withErrors(written: Buffer, errors: readonly unknown[] | undefined): Buffer {
  if (errors === undefined) return written;
  return Buffer.concat([Buffer.from(`{"errors":${JSON.stringify(errors)},`), written.subarray(1)]);
}

/** What JSON.stringify gives, in pieces of about so many bytes; what is no list and no object is one piece. */
export function* jsonPieces(value: unknown, most = PIECE_BYTES): Generator<string, void> {
  let text = '';
  for (const part of parts(value, most)) {
    text += part;
    if (text.length < most) continue;
    yield text;
    text = '';
  }
  if (text !== '') yield text;
}

function* parts(value: unknown, most: number): Generator<string, void> {
  if (value instanceof StoredJson) yield value.text;
  else if (!isContainer(value) || answerBytes(value, most) <= most) yield JSON.stringify(value) ?? 'null';
  else if (Array.isArray(value)) yield* ofList(value, most);
  else yield* ofObject(value, most);
}

/** Items that are small go together: one by one a list of 200,000 numbers would take ten times as long. */
function* ofList(items: readonly unknown[], most: number): Generator<string, void> {
  let separator = '[';
  for (let from = 0; from < items.length;) {
    let [to, bytes] = [from, 0];
    while (to < items.length) {
      bytes += answerBytes(items[to], most);
      if (to > from && bytes > most) break;
      to += 1;
    }
    if (to - from === 1) {
      yield separator;
      yield* parts(items[from], most);
    } else yield separator + JSON.stringify(items.slice(from, to)).slice(1, -1);
    separator = ',';
    from = to;
  }
  yield separator === '[' ? '[]' : ']';
}

function* ofObject(value: object, most: number): Generator<string, void> {
  let separator = '{';
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue;
    yield `${separator}${JSON.stringify(key)}:`;
    yield* parts(item, most);
    separator = ',';
  }
  yield separator === '{' ? '{}' : '}';
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !('toJSON' in value && typeof value.toJSON === 'function');
}
