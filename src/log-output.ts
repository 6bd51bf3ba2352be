import { fstatSync, write, writeSync } from 'node:fs';

/** Characters of lines that wait to be written: of a pipe that is read slowly, of a file whose disk is full. More are lost. */
const MAX_WAITING = 64 * 1_048_576;
const AT_ONCE = 65_536;
/** A pipe is tried again after so long; at the end of the process so often. */
const AGAIN_MS = 10;
const LAST_TRIES = 100;
/** A pipe or socket whose other end is gone says so for good; a file on another machine may come back. */
const GONE: ReadonlySet<string | undefined> = new Set(['EPIPE', 'ECONNRESET', 'ENOTCONN', 'ETIMEDOUT']);
/** A file that has not taken a piece for so long is on a disk that hangs. */
const HANGS_AFTER_MS = 5_000;
/** Between two pieces of what waited for a pipe. */
const REST_MS = 1;

/**
 * Where the lines of the log go. Nobody waits for it, and whatever happens to it ends nobody: pino's own writer tries
 * without an end to write to a full disk where the process is to end, and its errors end the process. A pipe that has
 * room has each line at once, whatever ends the process then; a file, whose disk may hang, a turn of the event loop later.
 */
export class LogOutput {
  readonly #fd: number;
  readonly #isPipe: boolean;
  #waiting: string[] = [];
  #length = 0;
  /** Taken from what waits, and not written yet. */
  #taken: Buffer | null = null;
  #isWriting = false;
  #hangs = false;
  #again: NodeJS.Timeout | undefined;
  #isShut = false;

  /** `fd`: if it is of a pipe, one that does not block: the exit waits for threads that write to one that does. */
  constructor(fd: number) {
    this.#fd = fd;
    const opened = fstatSync(fd);
    this.#isPipe = opened.isFIFO() || opened.isSocket();
    process.on('exit', () => this.#exit());
  }

  /** Resolves when nothing is being written, or the disk hangs: to be waited for before the process ends. */
  async atRest(): Promise<void> {
    while (this.#isWriting && !this.#hangs) await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }

  /** Waits for nothing; what could not be written is tried again with the next line, though there be no room for it. */
  write(line: string): void {
    if (this.#isShut) return;
    if (this.#length + line.length <= MAX_WAITING) {
      this.#waiting.push(line);
      this.#length += line.length;
    }
    if (!this.#isWriting && this.#again === undefined) this.#writeSome();
  }

  /** All that waits, if it can be written at all. Of the last lines of a process. */
  flushSync(): void {
    // It would hold this thread for as long.
    if (this.#hangs) return;
    const waiting = Buffer.from(this.#waiting.join(''));
    clearTimeout(this.#again);
    this.#again = undefined;
    // What is being written comes to its end by itself.
    let left = this.#isWriting || this.#taken === null ? waiting : Buffer.concat([this.#taken, waiting]);
    this.#waiting = [];
    this.#length = 0;
    if (!this.#isWriting) this.#taken = null;
    for (let tries = 0; left.length > 0 && !this.#isShut && tries < LAST_TRIES;)
      try {
        left = left.subarray(writeSync(this.#fd, left));
      } catch (error) {
        if (!isBusy(error)) return;
        tries += 1;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, AGAIN_MS);
      }
  }

  /** An exit waits for every thread, and one that writes to a disk that hangs is ended by nothing else. */
  #exit(): void {
    if (this.#hangs) process.kill(process.pid, 'SIGKILL');
    this.flushSync();
  }

  #writeSome(): void {
    this.#again = undefined;
    this.#taken ??= this.#take();
    if (this.#taken === null) return;
    const taken = this.#taken;
    if (this.#isPipe) {
      try {
        this.#written(null, writeSync(this.#fd, taken));
      } catch (error) {
        this.#written(error as NodeJS.ErrnoException, 0);
      }
      return;
    }
    this.#isWriting = true;
    // Looked at behind what has come: a piece that was written while this thread was busy is none that hangs.
    const late = setTimeout(() => setImmediate(() => (this.#hangs = !isOver)), HANGS_AFTER_MS).unref();
    let isOver = false;
    write(this.#fd, taken, (error, written) => {
      clearTimeout(late);
      isOver = true;
      this.#isWriting = this.#hangs = false;
      this.#written(error, written);
    });
  }

  #written(error: NodeJS.ErrnoException | null, written: number): void {
    const taken = this.#taken!;
    if (isBusy(error)) this.#later(AGAIN_MS);
    else if (error === null) {
      this.#taken = written < taken.length ? taken.subarray(written) : null;
      if (!this.#isPipe) this.#writeSome();
      else if (this.#taken !== null || this.#waiting.length > 0) this.#later(REST_MS);
    } else if (this.#isPipe && GONE.has(error.code)) this.#shut();
  }

  #later(ms: number): void {
    this.#again = setTimeout(() => this.#writeSome(), ms).unref();
  }

  #take(): Buffer | null {
    let [count, length] = [0, 0];
    while (count < this.#waiting.length && length < AT_ONCE) length += this.#waiting[count++]!.length;
    if (count === 0) return null;
    this.#length -= length;
    return Buffer.from(this.#waiting.splice(0, count).join(''));
  }

  /** Nobody will ever read it. */
  #shut(): void {
    this.#isShut = true;
    this.#waiting = [];
    this.#length = 0;
    this.#taken = null;
  }
}

function isBusy(error: unknown): boolean {
  const { code } = (error ?? {}) as NodeJS.ErrnoException;
  return code === 'EAGAIN' || code === 'EBUSY';
}
