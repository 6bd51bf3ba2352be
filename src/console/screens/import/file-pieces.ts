import type { FileHead } from './file-head.ts';
import { linesIn } from './file-head.ts';
import { RecordEnds } from './record-ends.ts';

/** Some records of a file that follow each other, as one request takes them. */
export interface FilePiece {
  /** Line of its first record in the file, from 1. */
  line: number;
  records: readonly string[];
  /** Bytes of the file up to its end. */
  upTo: number;
}

/** Maximum records per request, and maximum characters. */
const [MAX_RECORDS, MAX_CHARACTERS] = [5_000, 1_000_000];

/** The records of a file in pieces; `reached` says how many bytes of it were read. */
export async function* piecesOf(
  text: AsyncIterable<string>,
  head: FileHead,
  reached: () => number,
): AsyncGenerator<FilePiece> {
  const ends = new RecordEnds(head.kind === 'csv' ? head.delimiter : null);
  let toSkip = head.skipped;
  let records: string[] = [];
  let [characters, line, rest] = [0, head.firstLine, ''];
  const piece = (upTo: number): FilePiece => {
    const made = { line, records, upTo };
    for (const record of records) line += linesIn(record);
    records = [];
    characters = 0;
    return made;
  };
  let before = 0;
  for await (const chunk of text) {
    const now = reached();
    const own = chunk.slice(toSkip);
    toSkip -= chunk.length - own.length;
    let from = 0;
    for (const end of ends.in(own)) {
      const record = rest + own.slice(from, end + 1);
      rest = '';
      from = end + 1;
      records.push(record);
      characters += record.length;
      if (records.length >= MAX_RECORDS || characters >= MAX_CHARACTERS)
        yield piece(before + (now - before) * ((end + 1) / own.length));
    }
    rest += own.slice(from);
    before = now;
  }
  if (rest !== '') records.push(rest);
  if (records.length > 0) yield piece(reached());
}

/** The body of a request for the records, and the number of lines in it before the first one. */
export function bodyOf(
  { kind, delimiter, headingText }: FileHead,
  records: readonly string[],
): { text: string; before: number } {
  if (kind === 'ndjson') return { text: records.join(''), before: 0 };
  const heading = `sep=${delimiter}\n${headingText}`;
  return { text: heading + records.join(''), before: linesIn(heading) };
}
