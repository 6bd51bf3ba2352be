import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { decoderCommand } from './decoder-command.ts';
import { encodeFrame, ENTRY_POINTS, FRAME, FrameReader, RUN_FLAG } from './frames.ts';
import type { PoolJob } from './pool-job.ts';
import { ProcessKnowledge } from './process-knowledge.ts';
import { lowerPriority, residentMb } from './process-usage.ts';
import { RunWatch } from './run-watch.ts';

/** What one process may do. */
interface ProcessLimits {
  /** Processor time of one run. */
  timeoutMs: number;
  memoryMb: number;
  /** Jobs under way at once: the next is there when one ends. */
  window: number;
  /** As of `nice`. */
  priority: number;
  /** Another program than decoder.worker. */
  worker?: string | undefined;
}

/** Why a process is gone: over a limit, not let run, by a signal from outside, by itself, or for no fault of its jobs. */
type EndReason = 'TIMEOUT' | 'OUT_OF_MEMORY' | 'STARVED' | 'KILLED' | 'ENDED' | 'GIVEN_BACK';

/** A process that is gone. `blame`: the jobs of which one was running; `rest`: those that had not begun. */
export interface Loss {
  reason: EndReason;
  blame: PoolJob[];
  rest: PoolJob[];
  /** For how long it had been at what it was doing, in ms. */
  busyMs: number;
  wasReady: boolean;
}

/**
 * In ms: the run's time of the processor; by the clock on the wall and of the processor with what compiling took; and by
 * the clock with all that the process made ready for it.
 */
interface Took {
  durationMs: number;
  wallMs: number;
  usedMs: number;
  keptMs: number;
}

interface ProcessEvents {
  ready(): void;
  /** A job was answered: what it took, and its text. */
  result(job: PoolJob, took: Took, text: string): void;
  gone(loss: Loss): void;
}

const MAX_BYTES_UNDER_WAY = 4 << 20;
/** What a process is given is usually done within so long: who comes next stands behind all of it, whoever's it is. */
const MAX_USUAL_MS = 10;
/** Fits into the socket of a process that has taken in all before it. */
const PIECE_BYTES = 64 << 10;
/** 1 MiB of characters outside ASCII, or in quotes twice, and the console. */
const MAX_RESULT_BYTES = 8 << 20;
/** A run is repeated so many times at most with what it asked for. */
export const MAX_ROUNDS = 5;
const TRUSTED_RUNS = 10;
/** A run that takes longer has shown that it computes: it was looked at twice. */
const HELD_UP_MS = 25;
/** Without its socket a process ends, but for one that is stopped. */
const MAX_END_MS = 1_000;
const OUTSIDE_SIGNALS: ReadonlySet<string> = new Set(['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT']);

/** One decoder process (`decoder.worker.ts`): sends it jobs, knows which one is running, and kills it over its limits. */
export class DecoderProcess {
  readonly #child: ChildProcess;
  readonly #socket: Socket;
  readonly #limits: ProcessLimits;
  readonly #events: ProcessEvents;
  /**
   * In the order in which they were sent, and are answered. No `Map`: what is put in and taken out thousands of times a
   * second leaves tables behind that keep finished calls alive until the next full collection.
   */
  #underWay: PoolJob[] = [];
  #bytes = 0;
  /** What they usually take together. */
  #usualMs = 0;
  /** Jobs so far, and how many of them have left altogether: a megabyte takes many turns of the event loop. */
  #sent = 0;
  #delivered = 0;
  /** The newest job under way may be a long one: nothing is sent after it that would have to wait for it. */
  #closed = false;
  /** Frames, each with how many jobs have left altogether when it has. */
  #outgoing: { frame: Buffer; jobs: number }[] = [];
  #isWriting = false;
  readonly #knowledge = new ProcessKnowledge();
  readonly #watch: RunWatch;
  #killed: EndReason | null = null;
  #gone = false;
  /** It may be at a job that it was let off: whose fault its end is cannot be known. */
  #isSpoilt = false;
  #retiring = false;
  readonly #done: Promise<void>;
  isReady = false;
  runs = 0;

  constructor(limits: ProcessLimits, events: ProcessEvents) {
    this.#limits = limits;
    this.#events = events;
    const { command, args } = decoderCommand(limits.memoryMb, limits.worker);
    // No variable of the server's environment gets in; local time is UTC on every machine.
    const child = spawn(command, args, { env: { TZ: 'UTC' }, stdio: ['ignore', 'ignore', 'ignore', 'pipe'], cwd: '/' });
    this.#child = child;
    this.#watch = new RunWatch(child.pid, limits);
    // Where the machine has no file left for it, it has none, and ends with an error.
    this.#socket = ((child.stdio as ChildProcess['stdio'] | undefined)?.[3] as Socket | undefined) ?? new Socket();
    const reader = new FrameReader(MAX_RESULT_BYTES);
    this.#socket.on('data', (chunk: Buffer) => {
      try {
        reader.push(chunk, (frame) => this.#take(frame));
      } catch {
        // Frames that are none: whatever writes them is not our code any more.
        this.kill('ENDED');
      }
    });
    this.#socket.on('error', () => {
      // What was not read yet of one that is killed from outside is an error here, before its end is heard of.
      this.#retiring = true;
      this.#end();
    });
    this.#done = new Promise((resolve) => {
      const end = (): void => {
        this.#lost();
        resolve();
      };
      // The crashes of V8 itself are SIGABRT, SIGTRAP and their kin.
      child.on('exit', (_code, signal) => {
        if (signal !== null && OUTSIDE_SIGNALS.has(signal)) this.#killed ??= 'KILLED';
      });
      // `close` comes after the last result has been read, `exit` may come before.
      child.on('close', end);
      child.on('error', end);
    });
    if (limits.priority > 0) this.standBack(limits.priority);
  }

  /** From now on others come first (as of `nice`): there is no way back. */
  standBack(priority: number): void {
    lowerPriority(this.#child.pid, priority);
  }

  get load(): number {
    return this.#underWay.length;
  }

  /** For how long it has been at what it is doing, in ms. */
  busyMs(now: number): number {
    return this.#canRun ? now - this.#watch.since : 0;
  }

  /** For how long it has had nothing to do, in ms. */
  idleMs(now: number): number {
    return this.#underWay.length === 0 ? now - this.#watch.since : 0;
  }

  /** The run it is at; null: none, or it cannot be known. */
  get runningJob(): PoolJob | null {
    const [first] = this.#underWay;
    return first !== undefined && (this.#underWay.length === 1 || first.isAlone) ? first : null;
  }

  /** Others stand behind a run that goes on for long, whichever of them it is. */
  holdsUp(now: number): boolean {
    const [first] = this.#underWay;
    const isShared = this.#killed === null && this.runningJob === null && this.#watch.isComputing && this.#canRun;
    const isBehind = ({ product }: PoolJob): boolean => product.workspace !== first!.product.workspace;
    return isShared && this.busyMs(now) > HELD_UP_MS && this.#underWay.some(isBehind);
  }

  /**
   * Lets go of those that are of other workspaces than the first, to begin again elsewhere, and alone: it may be one of
   * them that goes on here. What is still answered of them is nothing to anybody, and the process ends after the others.
   */
  letGo(costMs: number): PoolJob[] {
    const { workspace } = this.#underWay[0]!.product;
    const gone = this.#underWay.filter(({ product }) => product.workspace !== workspace);
    for (const job of this.#underWay) {
      job.source.trust = 0;
      job.endedMs = costMs;
    }
    for (const { inputBytes, chargedMs } of gone) {
      this.#bytes -= inputBytes;
      this.#usualMs -= chargedMs;
    }
    this.#underWay = this.#underWay.filter(({ product }) => product.workspace === workspace);
    this.#isSpoilt = true;
    return gone;
  }

  hasRoom(): boolean {
    return (
      this.isReady &&
      !this.#retiring &&
      !this.#closed &&
      this.#killed === null &&
      !this.#gone &&
      this.#underWay.length < this.#limits.window &&
      (this.#underWay.length === 0 || (this.#bytes < MAX_BYTES_UNDER_WAY && this.#usualMs < MAX_USUAL_MS))
    );
  }

  /** Hands over a job; what is sent within one turn of the event loop leaves together, at its end. */
  send(job: PoolJob): void {
    if (this.#underWay.length === 0) this.#watch.begin(performance.now());
    this.#underWay.push(job);
    this.#sent += 1;
    this.#bytes += job.inputBytes;
    this.#usualMs += job.chargedMs;
    this.runs += 1;
    job.isAlone = job.job === null || job.source.trust < TRUSTED_RUNS;
    this.#closed = job.isAlone;
    if (job.job === null) {
      this.#queue(encodeFrame(FRAME.CHECK, [job.id], job.source.text), this.#sent);
      return;
    }
    for (const frame of this.#knowledge.missing(job)) this.#queue(frame, this.#sent - 1);
    const lastRound = job.round >= MAX_ROUNDS;
    const flags =
      (lastRound ? RUN_FLAG.LAST_ROUND : 0) |
      (job.isAlone ? RUN_FLAG.ALONE : 0) |
      (ENTRY_POINTS.indexOf(job.job.entryPoint) << RUN_FLAG.ENTRY_SHIFT);
    const timeout = Math.max(1, Math.round(this.#limits.timeoutMs - job.spentMs));
    const lookedUp = job.lookedUp?.text ?? '';
    const { product } = job;
    const numbers = [job.id, product.no, product.workspace.no, job.source.no, timeout, flags, job.inputBytes];
    this.#queue(encodeFrame(FRAME.RUN, numbers, job.job.input, lookedUp), this.#sent);
  }

  /** Kills the process when the running job is over its limits; to be called every few milliseconds. */
  watch(now: number): void {
    if (this.#killed !== null || this.#gone) return;
    const isIdle = this.isReady && this.#underWay.length === 0;
    if (isIdle) return;
    const verdict = this.#canRun ? this.#watch.verdict(now) : this.#watch.startVerdict(now);
    if (verdict !== null) this.kill(verdict);
  }

  /** It has work, and all of the oldest has left; what it was let off was not the newest, so that cannot be counted then. */
  get #canRun(): boolean {
    return this.#isSpoilt || this.#delivered > this.#sent - this.#underWay.length;
  }

  /** Resident memory in MB; 0 where that cannot be known. */
  rssMb(): number {
    return residentMb(this.#child.pid);
  }

  /** `GIVEN_BACK` blames no job: a run has no effects, so it can begin again elsewhere. */
  kill(reason: EndReason): void {
    this.#killed ??= reason;
    this.#child.kill('SIGKILL');
  }

  /** Whether it has jobs of the product that do not come back by themselves, as those of a source do that was long. */
  carriesOthers({ product, source }: PoolJob): boolean {
    return this.#underWay.some((job) => job.product === product && job.source !== source);
  }

  /** Takes no more jobs and ends after those under way. Resolves when the process is gone. */
  retire(): Promise<void> {
    this.#retiring = true;
    if (this.#underWay.length === 0) this.#end();
    return this.#done;
  }

  #end(): void {
    if (!this.isReady) return this.kill('ENDED');
    this.#socket.end();
    setTimeout(() => this.kill('ENDED'), MAX_END_MS).unref();
  }

  #queue(frame: Buffer, jobs: number): void {
    this.#outgoing.push({ frame, jobs });
    if (this.#isWriting) return;
    this.#isWriting = true;
    setImmediate(() => this.#write());
  }

  /** Piece by piece: behind a job that can run already, what is still on the way must not hide that it has left. */
  #write(): void {
    let bytes = 0;
    const end = this.#outgoing.findIndex(({ frame }, i) => (bytes += frame.length) > PIECE_BYTES && i > 0);
    const piece = this.#outgoing.splice(0, end < 0 ? this.#outgoing.length : end);
    const last = piece.at(-1);
    this.#isWriting = last !== undefined && this.#socket.writable;
    if (last === undefined || !this.#isWriting) return;
    this.#socket.write(piece.length === 1 ? last.frame : Buffer.concat(piece.map(({ frame }) => frame)), () => {
      this.#left(last.jobs);
      this.#write();
    });
  }

  /** So many jobs have left by now. */
  #left(sent: number): void {
    const couldRun = this.#canRun;
    this.#delivered = sent;
    if (this.#canRun && !couldRun) this.#watch.begin(performance.now());
  }

  #take(frame: Buffer): void {
    if (frame[0] === FRAME.READY) {
      this.isReady = true;
      this.#events.ready();
      return;
    }
    if (frame[0] !== FRAME.RESULT) return;
    // All of it first: a frame that is too short throws, and the job must then be among those that were lost.
    const id = frame.readUInt32LE(1);
    const took = {
      durationMs: frame.readUInt32LE(5) / 1000,
      wallMs: frame.readUInt32LE(9) / 1000,
      usedMs: frame.readUInt32LE(13) / 1000,
      keptMs: frame.readUInt32LE(17) / 1000,
    };
    const at = this.#underWay.findIndex((job) => job.id === id);
    if (at < 0) return;
    const job = this.#underWay.splice(at, 1)[0]!;
    this.#bytes -= job.inputBytes;
    this.#usualMs -= job.chargedMs;
    if (this.#underWay.length === 0) {
      this.#closed = false;
      this.#usualMs = 0;
    }
    this.#watch.begin(performance.now());
    this.#events.result(job, took, frame.toString('utf8', 21));
    if (this.#underWay.length > 0) return;
    if (this.#isSpoilt) this.kill('GIVEN_BACK');
    else if (this.#retiring) this.#end();
  }

  #lost(): void {
    if (this.#gone) return;
    this.#gone = true;
    const busyMs = this.busyMs(performance.now());
    const jobs = this.#underWay;
    this.#underWay = [];
    // The oldest may have ended with its result not written yet; jobs that run alone write around themselves.
    const reason = this.#isSpoilt ? 'GIVEN_BACK' : (this.#killed ?? 'ENDED');
    let count = reason === 'GIVEN_BACK' ? 0 : Math.min(1, jobs.length);
    if (count === 1 && !jobs[0]!.isAlone) while (count < jobs.length && !jobs[count]!.isAlone) count += 1;
    this.#events.gone({ reason, blame: jobs.slice(0, count), rest: jobs.slice(count), busyMs, wasReady: this.isReady });
  }
}
