import { ApiError, wordsOf } from '../../api/api-error.ts';
import type { FileHead } from './file-head.ts';
import { linesIn } from './file-head.ts';
import { bodyOf, type FilePiece, piecesOf } from './file-pieces.ts';
import type { TextFile } from './file-text.ts';
import { type ImportSettings, type PieceOutcome, sendPiece } from './send-piece.ts';
import { t } from '../../texts/texts.ts';

/** A line that was refused, whole or in part, with the reasons. */
export interface RefusedLine {
  line: number;
  /** The record as it stands in the file. */
  record: string;
  reasons: readonly string[];
}

/** How far an import is, and what it did so far. */
export interface ImportProgress {
  state: 'going' | 'waiting' | 'stopped' | 'done' | 'failed';
  /** Part of the file that is behind, from 0 to 1. */
  part: number;
  lines: number;
  stored: number;
  refused: number;
  values: number;
  replaced: number;
  /** A notice about times ahead of the server's clock; null: none. */
  ahead: string | null;
  /** The refused lines that are kept. */
  refusedLines: readonly RefusedLine[];
  /** The reason of `failed`, and of `waiting`. */
  error: string | null;
}

/** Refused lines listed per request by the server. */
const LISTED = 1_000;
/** Maximum refused lines kept, and maximum characters of them. */
const [MAX_KEPT, MAX_KEPT_CHARACTERS] = [50_000, 20_000_000];
const AGAIN_MS = 2_000;

const NOTHING: ImportProgress = {
  state: 'going',
  part: 0,
  lines: 0,
  stored: 0,
  refused: 0,
  values: 0,
  replaced: 0,
  ahead: null,
  refusedLines: [],
  error: null,
};

/** Sends a file piece by piece. It may be stopped and gone on with: what is sent twice is stored once. */
export class ImportRun {
  readonly #file: TextFile;
  readonly #head: FileHead;
  readonly #settings: ImportSettings;
  readonly #dryRun: boolean;
  readonly #tell: (progress: ImportProgress) => void;
  readonly #pieces: AsyncGenerator<FilePiece>;
  /** The piece that was not acknowledged. */
  #piece: FilePiece | null = null;
  #stopping = new AbortController();
  #progress = NOTHING;
  #keptCharacters = 0;

  constructor(
    { file, head, settings, dryRun }: { file: TextFile; head: FileHead; settings: ImportSettings; dryRun: boolean },
    tell: (progress: ImportProgress) => void,
  ) {
    [this.#file, this.#head, this.#settings, this.#dryRun, this.#tell] = [file, head, settings, dryRun, tell];
    let read = 0;
    const text = file.read((bytes) => (read = bytes));
    this.#pieces = piecesOf(text, head, () => read);
  }

  /** Goes on until the end of the file, a stop, or an error that waiting does not mend. */
  async go(): Promise<void> {
    this.#stopping = new AbortController();
    this.#change({ state: 'going', error: null });
    try {
      while (!this.#isStopped()) {
        this.#piece ??= await this.#next();
        if (this.#piece === null) return this.#change({ state: 'done', part: 1 });
        if (await this.#send(this.#piece)) this.#piece = null;
      }
      this.#change({ state: 'stopped' });
    } catch (error) {
      if (this.#isStopped()) this.#change({ state: 'stopped' });
      else this.#change({ state: 'failed', error: wordsOf(error) });
    }
  }

  /** Stops; the piece that is under way is sent again when it goes on. */
  stop(): void {
    this.#stopping.abort();
  }

  /** Stops for good. */
  end(): void {
    this.stop();
    void this.#pieces.return(undefined).catch(() => {});
  }

  #isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  async #next(): Promise<FilePiece | null> {
    try {
      const next = await this.#pieces.next();
      return next.done === true ? null : next.value;
    } catch (error) {
      throw new Error(
        error instanceof TypeError
          ? t('The file cannot be read as {charset}: it is damaged, or it was changed meanwhile.', {
              charset: this.#file.charset,
            })
          : wordsOf(error),
        { cause: error },
      );
    }
  }

  /** Sends a piece; false: the server is away or busy, and the piece has to be sent again. */
  async #send(piece: FilePiece): Promise<boolean> {
    const { signal } = this.#stopping;
    try {
      const { text, before } = bodyOf(this.#head, piece.records);
      const outcome = await sendPiece(this.#settings, text, this.#dryRun, signal);
      await this.#keep(piece, outcome, before);
      this.#count(outcome, piece.upTo);
      return true;
    } catch (error) {
      if (!(error instanceof ApiError) || (error.code !== 'OFFLINE' && error.code !== 'BUSY')) throw error;
      this.#change({ state: 'waiting', error: error.message });
      await pause(AGAIN_MS, signal);
      return false;
    }
  }

  #count(outcome: PieceOutcome, upTo: number): void {
    const { lines, stored, refused, values, replaced, ahead } = this.#progress;
    this.#change({
      state: 'going',
      error: null,
      part: this.#file.size === 0 ? 1 : upTo / this.#file.size,
      lines: lines + outcome.lines,
      stored: stored + outcome.stored,
      refused: refused + outcome.refused,
      values: values + outcome.values,
      replaced: replaced + outcome.replaced,
      ahead: outcome.ahead?.message ?? ahead,
    });
  }

  /** Keeps the refused lines; what the server's list has no room for is tried again, without storing anything. */
  async #keep(piece: FilePiece, outcome: PieceOutcome, before: number): Promise<void> {
    const firstOf = linesOf(piece);
    const placeOf = new Map(firstOf.map((line, at) => [line, at]));
    const found = new Map<number, { at: number; reasons: string[] }>();
    let from = 0;
    let { rejected } = outcome;
    for (;;) {
      const shift = (firstOf[from] ?? 0) - before - 1;
      for (const { line, message } of rejected) {
        const place = found.get(line + shift) ?? { at: placeOf.get(line + shift) ?? -1, reasons: [] };
        place.reasons.push(message);
        found.set(line + shift, place);
      }
      const last = Math.max(-1, ...[...found.values()].map(({ at }) => at));
      if (rejected.length < LISTED || last + 1 >= piece.records.length || last < from || this.#isFull()) break;
      from = last + 1;
      const { text } = bodyOf(this.#head, piece.records.slice(from));
      ({ rejected } = await sendPiece(this.#settings, text, true, this.#stopping.signal));
    }
    const refusedLines = [...this.#progress.refusedLines];
    for (const [line, { at, reasons }] of found) {
      const record = piece.records[at] ?? '';
      this.#keptCharacters += record.length;
      if (!this.#isFull()) refusedLines.push({ line, record, reasons });
    }
    this.#progress = { ...this.#progress, refusedLines };
  }

  #isFull(): boolean {
    return this.#progress.refusedLines.length >= MAX_KEPT || this.#keptCharacters > MAX_KEPT_CHARACTERS;
  }

  #change(change: Partial<ImportProgress>): void {
    this.#progress = { ...this.#progress, ...change };
    this.#tell(this.#progress);
  }
}

/** The line in the file of each record. */
function linesOf({ line, records }: FilePiece): number[] {
  let at = line;
  return records.map((record) => {
    const first = at;
    at += linesIn(record);
    return first;
  });
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
