import { randomInt } from 'node:crypto';
import type ivm from 'isolated-vm';
import { REALM_TEXT, ENTRY_FUNCTIONS } from './realm-text.ts';
import { memoryMessage, timeoutMessage } from './limit-messages.ts';
import { readTraits } from './source-traits.ts';
import { ThreadClock } from './thread-clock.ts';

type Isolates = typeof ivm;

/**
 * Text of a run for the pool (see `realm/run-decoder.ts`), and the processor time of the user's code and its wrapper.
 */
interface Outcome {
  text: string;
  durationMs: number;
}

/** A context with a decoder in it; `kept` ones serve many calls. */
interface Cell {
  kept: boolean;
  run: ivm.Reference;
  settle: ivm.Reference;
  references: { release(): void }[];
}

interface Program {
  sourceNo: number;
  source: string;
  entryPoint: string;
  usesLookups: boolean;
  /** null: run it as a script in a new context for each call. */
  factory: ivm.Script | null;
  cell: Cell | null;
  calls: number;
  /** Consecutive calls that changed a built-in. */
  spoiltInARow: number;
  syntaxError: string | null;
}

const MAX_PROGRAMS = 4;
/** Run time after which its memory is measured again; a run can take a megabyte in 1 ms. */
const MEASURED_MS = 2;
/** Maximum consecutive calls that change a built-in; later calls get new contexts at once. */
const MAX_SPOILT_IN_A_ROW = 3;
/** Minimum share of its processor time that an ended run must have had, or it begins again. */
const FAIR_SHARE = 0.75;
/** Maximum wall time per millisecond of the limit. */
const MAX_STARVED = 8;
const MAX_SEED = 2 ** 48 - 1;
const FILE = { filename: 'decoder.js' };

/** Isolate of one product, with the contexts of its sources, kept between calls. */
export class ProductIsolate {
  readonly #isolates: Isolates;
  readonly #memoryMb: number;
  #vm: { isolate: ivm.Isolate; realm: ivm.Script };
  #programs = new Map<string, Program>();
  #serials = '{}';
  #clock = new ThreadClock();
  /** Processor time and wall time of the last try of a run. */
  readonly #last = { durationMs: 0, wallMs: 0 };
  /** Memory when it was last measured, and what has run since. */
  readonly #memory = { heldBytes: 0, notMeasuredMs: 0 };

  constructor(isolates: Isolates, memoryMb: number) {
    this.#isolates = isolates;
    this.#memoryMb = memoryMb;
    this.#vm = this.#beginAnew();
  }

  #beginAnew(): { isolate: ivm.Isolate; realm: ivm.Script } {
    this.#programs.clear();
    const isolate = new this.#isolates.Isolate({
      memoryLimit: Math.max(8, this.#memoryMb),
      // V8 is about to end the process: nothing in it can be trusted.
      onCatastrophicError: () => process.abort(),
    });
    return { isolate, realm: isolate.compileScriptSync(REALM_TEXT, { filename: 'inlet.js' }) };
  }

  get disposed(): boolean {
    return this.#vm.isolate.isDisposed;
  }

  /** Memory when it was last measured. */
  get heldBytes(): number {
    return this.#memory.heldBytes;
  }

  /** Measures the memory from time to time, after a run of this length; returns whether it did. */
  measure(ranMs: number): boolean {
    this.#memory.notMeasuredMs += ranMs;
    if (this.#memory.notMeasuredMs < MEASURED_MS || this.disposed) return false;
    this.#memory.notMeasuredMs = 0;
    const { total_heap_size: heap, externally_allocated_size: outside } = this.#vm.isolate.getHeapStatisticsSync();
    this.#memory.heldBytes = heap + outside;
    return true;
  }

  dispose(): void {
    if (!this.#vm.isolate.isDisposed) this.#vm.isolate.dispose();
  }

  setSerials(text: string): void {
    this.#serials = text;
    for (const program of this.#programs.values()) this.#drop(program);
  }

  /** Runs a call. The isolate is disposed of if it ended otherwise than by the wrapper's text. */
  run(
    sourceNo: number,
    source: string,
    entryPoint: string,
    input: string,
    lookedUp: string,
    lastRound: boolean,
    timeout: number,
  ): Outcome {
    this.#last.durationMs = 0;
    try {
      const program = this.#program(sourceNo, source, entryPoint);
      if (program.syntaxError !== null) return { text: program.syntaxError, durationMs: 0 };
      let text = this.#callFairly(program, input, lookedUp, lastRound, timeout);
      if (text === 'D') {
        program.spoiltInARow += 1;
        if (program.spoiltInARow >= MAX_SPOILT_IN_A_ROW) program.factory = null;
        this.#drop(program);
        text = this.#call(program, input, lookedUp, lastRound, timeout);
        if (text === 'D') text = failureText('THREW', 'The decoder could not be run.');
      } else program.spoiltInARow = 0;
      return { text: namedFailure(text), durationMs: this.#last.durationMs };
    } catch (error) {
      const text = this.#failureOf(error, timeout);
      // isolated-vm read the error outside of any call, where users' getters ran; what they left behind would run with
      // the next call.
      this.dispose();
      return { text, durationMs: this.#last.durationMs };
    }
  }

  /**
   * Repeats a call that isolated-vm ended by wall time although it had little processor time: a busy machine must not
   * time out an honest decoder. Repeats also a call that had less memory because earlier ones left things that are
   * never freed (`Symbol.for`). Each try has a new isolate, as rejected promises of the ended run would fail it.
   */
  #callFairly(atFirst: Program, input: string, lookedUp: string, lastRound: boolean, timeout: number): string {
    let program = atFirst;
    let wallMs = timeout;
    for (;;) {
      try {
        const text = this.#call(program, input, lookedUp, lastRound, wallMs);
        if (this.#last.durationMs <= timeout * 1.1 || wallMs === timeout) return text;
        return failureText('TIMEOUT', timeoutMessage(timeout));
      } catch (error) {
        const hadLess = this.disposed && [...this.#programs.values()].some(({ calls }) => calls > 0);
        if (!hadLess) {
          if (this.disposed || !isTimeout(error) || this.#last.wallMs < wallMs * 0.9) throw error;
          if (this.#last.durationMs > timeout * FAIR_SHARE || wallMs >= timeout * MAX_STARVED) throw error;
          const needsMs = (timeout * wallMs) / Math.max(1, this.#last.durationMs);
          wallMs = Math.round(Math.min(timeout * MAX_STARVED, Math.max(wallMs * 2, needsMs * 1.5)));
        }
        this.dispose();
        this.#vm = this.#beginAnew();
        program = this.#program(program.sourceNo, program.source, program.entryPoint);
      }
    }
  }

  #call(program: Program, input: string, lookedUp: string, lastRound: boolean, timeout: number): string {
    const cell = (program.cell ??= this.#open(program));
    const limit = { timeout };
    let text: string;
    const started = performance.now();
    this.#clock.begin(started);
    try {
      text = cell.run.applySync(undefined, [input, lookedUp, lastRound, randomInt(MAX_SEED)], limit) as string;
      if (text === 'P') {
        // The rest of the limit; else the pool would end the run later (see `RunWatch`).
        const left = Math.max(1, Math.round(timeout - (performance.now() - started)));
        text = cell.settle.applySync(undefined, [], { timeout: left }) as string;
      }
    } finally {
      this.#last.wallMs = performance.now() - started;
      this.#last.durationMs = this.#clock.usedMs(this.#last.wallMs);
    }
    program.calls += 1;
    // It would refuse a second call anyway.
    if (!cell.kept) this.#drop(program);
    return text;
  }

  #open(program: Program): Cell {
    // Watching the built-ins takes milliseconds to set up, so not for the first call.
    const kept = program.factory !== null && program.calls > 0;
    const context = this.#vm.isolate.createContextSync();
    const references: { release(): void }[] = [context];
    const make = this.#vm.realm.runSync(context, { reference: true }) as ivm.Reference;
    const runner = make.applySync(undefined, [kept], {
      result: { reference: true },
    }) as ivm.Reference;
    const pick = (name: string): ivm.Reference => runner.getSync(name, { reference: true }) as ivm.Reference;
    const install = pick('install');
    const run = pick('run');
    const settle = pick('settle');
    let factory: ivm.Reference | null = null;
    if (program.factory !== null) factory = program.factory.runSync(context, { reference: true }) as ivm.Reference;
    const script = factory === null ? scriptText(program.source) : '';
    install.applySync(undefined, [factory?.derefInto() ?? null, script, program.entryPoint, program.usesLookups]);
    if (program.usesLookups) {
      const setSerials = pick('setSerials');
      setSerials.applySync(undefined, [this.#serials]);
      setSerials.release();
    }
    for (const reference of [make, runner, install, factory]) reference?.release();
    references.unshift(run, settle);
    return { kept, run, settle, references };
  }

  /** Failure text of an error; does not enter the isolate. */
  #failureOf(error: unknown, timeout: number): string {
    const { name, message, stack } = toldBy(error);
    const place = /\bdecoder\.js:(\d+):(\d+)/.exec(stack);
    const at = [Number(place?.[1] ?? 0), Number(place?.[2] ?? 0)] as const;
    // The wrapper returns text for all that users' code throws, so this is isolated-vm's error or an unhandled
    // rejection.
    if (this.disposed) return failureText('OUT_OF_MEMORY', memoryMessage(this.#memoryMb), ...at);
    if (this.#last.wallMs >= timeout * 0.9 && isTimeout(error)) {
      return failureText('TIMEOUT', timeoutMessage(timeout), ...at);
    }
    const told = name === '' ? message.slice(0, 2000) : `${name}: ${message.slice(0, 2000)}`;
    return failureText('THREW', `A promise was rejected and not caught: ${told}`, ...at);
  }

  #drop(program: Program): void {
    for (const reference of program.cell?.references ?? []) reference.release();
    program.cell = null;
  }

  #program(sourceNo: number, source: string, entryPoint: string): Program {
    const key = `${sourceNo}:${entryPoint}`;
    const known = this.#programs.get(key);
    if (known !== undefined) {
      this.#programs.delete(key);
      this.#programs.set(key, known);
      return known;
    }
    const traits = readTraits(source);
    const text = withoutHashbang(source);
    const syntaxError = compileError(this.#vm.isolate, text);
    const program: Program = {
      sourceNo,
      source: text,
      entryPoint,
      usesLookups: traits.usesLookups,
      factory: syntaxError !== null || traits.needsScript ? null : this.#factory(text),
      cell: null,
      calls: 0,
      spoiltInARow: 0,
      syntaxError,
    };
    for (const [oldKey, old] of this.#programs) {
      if (this.#programs.size < MAX_PROGRAMS) break;
      this.#drop(old);
      old.factory?.release();
      this.#programs.delete(oldKey);
    }
    this.#programs.set(key, program);
    return program;
  }

  /**
   * The source as a function that makes its top-level state anew. It parses as a script on its own, so it cannot close
   * the function early. An arrow function has no `arguments`, like a script.
   */
  #factory(source: string): ivm.Script | null {
    try {
      const text = `(() => {\n${source}\n;return ${ENTRY_FUNCTIONS};})`;
      return this.#vm.isolate.compileScriptSync(text, { ...FILE, lineOffset: -1 });
    } catch {
      return null; // something a script may do and a function may not
    }
  }
}

/** Turns a `#!` line, a comment only at the start of a script, into a `//` comment with the same columns. */
const withoutHashbang = (source: string): string => (source.startsWith('#!') ? `//${source.slice(2)}` : source);

const scriptText = (source: string): string => `${source}\n;(${ENTRY_FUNCTIONS})\n//# sourceURL=decoder.js`;

/** `E` text of a source that does not parse; null if it does. */
export function compileError(isolate: ivm.Isolate, source: string): string | null {
  try {
    isolate.compileScriptSync(withoutHashbang(source), FILE).release();
    return null;
  } catch (error) {
    const { name, message } = toldBy(error);
    if (isolate.isDisposed) return failureText('SYNTAX', 'The source needs too much memory to be parsed.');
    if (name === 'RangeError') return failureText('SYNTAX', 'The source is nested too deeply to be parsed.');
    const place = /(?<!\s)\s*\[[^[\]]*:(\d+):(\d+)\]$/.exec(message);
    const text = `${name}: ${place === null ? message : message.slice(0, place.index)}`;
    return failureText('SYNTAX', text, Number(place?.[1] ?? 0), Number(place?.[2] ?? 0));
  }
}

/** Texts of an error of isolated-vm, which may be anything that users' code rejected a promise with, even null. */
export function toldBy(error: unknown): { name: string; message: string; stack: string } {
  if (!(error instanceof Error)) return { name: '', message: String(error), stack: '' };
  const { name, message, stack } = error;
  return { name: String(name), message: String(message), stack: String(stack) };
}

/** `E` text of a failure that the decoder's own code did not report (see `realm/run-decoder.ts`). */
export function failureText(kind: string, message: string, line = 0, column = 0): string {
  return `E${JSON.stringify({ kind, message, line, column, console: [] })}`;
}

const isTimeout = (error: unknown): boolean =>
  error instanceof Error && error.message === 'Script execution timed out.';

/** Names V8's refusal of a large typed array, an ordinary error, a lack of memory. */
function namedFailure(text: string): string {
  const before = '{"kind":"THREW","message":"RangeError: Array buffer allocation failed"';
  if (!text.startsWith(before, 1)) return text;
  return `E{"kind":"OUT_OF_MEMORY","message":"RangeError: Array buffer allocation failed"${text.slice(before.length + 1)}`;
}
