import { EventLoopQueue } from '../../scheduling/event-loop-queue.ts';
import { LANES } from '../../scheduling/lanes.ts';
import { answerBytes } from '../context/answer-size.ts';
import { answerTooLarge, MAX_ANSWER_BYTES } from '../context/work-budget.ts';
import { StoredJson } from '../context/stored-json.ts';

/** A longer answer is written piece by piece: written at once it would hold the event loop. */
export const LARGE_BYTES = 262_144;
/** Bytes per piece. */
const PIECE_BYTES = 131_072;
const LINE_END = Buffer.from('\n');
/** Maximum bytes of a written answer: escaped characters take up to six bytes, and are counted as one. */
const MOST_WRITTEN = 2 * MAX_ANSWER_BYTES;

/** Writes large answers as JSON, one piece after the other; between pieces others have their turn. */
export class LargeAnswers {
  readonly #turns = new EventLoopQueue(LANES.answers);

  /**
   * Writes the answer as JSON in UTF-8, with a line end; ends with what `check` throws. Throws QUERY_TOO_COMPLEX when
   * it is much longer than it was counted.
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

/** Adds the errors, if there are any, to a written answer. */
export function withErrors(written: Buffer, errors: readonly unknown[] | undefined): Buffer {
  if (errors === undefined) return written;
  return Buffer.concat([Buffer.from(`{"errors":${JSON.stringify(errors)},`), written.subarray(1)]);
}

/** The text of JSON.stringify, in pieces of about `most` bytes; a value that is no list or object is one piece. */
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

/** Puts small items together: one by one, a long list of numbers would take ten times as long. */
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
