import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { decoderCommand } from './decoder-command.ts';
import { encodeFrame, ENTRY_POINTS, FRAME, FrameReader, RUN_FLAG } from './frames.ts';
import type { PoolJob } from './pool-job.ts';
import { ProcessKnowledge } from './process-knowledge.ts';
import { lowerPriority, residentMb } from './process-usage.ts';
import { RunWatch } from './run-watch.ts';
import { must } from '../must.ts';

/** Limits of one process. */
interface ProcessLimits {
  /** Processor time of one run. */
  timeoutMs: number;
  memoryMb: number;
  /** Maximum jobs under way, so that the next one is there when one ends. */
  window: number;
  /** Priority of the process, as of `nice`. */
  priority: number;
  /** Program to run instead of decoder.worker. */
  worker?: string | undefined;
}

/** Why a process ended: over a limit, starved of processor time, killed from outside, by itself, or given back. */
type EndReason = 'TIMEOUT' | 'OUT_OF_MEMORY' | 'STARVED' | 'KILLED' | 'ENDED' | 'GIVEN_BACK';

/** A process that ended. `blame`: jobs of which one was running; `rest`: jobs that had not begun. */
export interface Loss {
  reason: EndReason;
  blame: PoolJob[];
  rest: PoolJob[];
  /** How long it had been at its job, in ms. */
  busyMs: number;
  wasReady: boolean;
}

/** In ms: processor time of the run; wall and processor time with compiling; wall time with all preparation. */
interface Took {
  durationMs: number;
  wallMs: number;
  usedMs: number;
  keptMs: number;
}

interface ProcessEvents {
  ready(): void;
  /** A job was answered with its times and its text. */
  result(job: PoolJob, took: Took, text: string): void;
  gone(loss: Loss): void;
}

const MAX_BYTES_UNDER_WAY = 4 << 20;
/** Maximum usual time of what a process is given, as the next job waits for all of it. */
const MAX_USUAL_MS = 10;
/** Maximum bytes per write; fits into the socket of a process that has read all before it. */
const PIECE_BYTES = 64 << 10;
/** Maximum result: 1 MiB of escaped characters outside ASCII, and the console. */
const MAX_RESULT_BYTES = 8 << 20;
/** Maximum rounds per run, each repeated with the values it asked for. */
export const MAX_ROUNDS = 5;
const TRUSTED_RUNS = 10;
/** Time after which a run is known to compute: it was looked at twice. */
const HELD_UP_MS = 25;
/** Maximum time to end after its socket closed; only a stopped process takes longer. */
const MAX_END_MS = 1_000;
const OUTSIDE_SIGNALS: ReadonlySet<string> = new Set(['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT']);

/** One decoder process (`decoder.worker.ts`): sends it jobs, knows which one is running, and kills it over its limits. */
export class DecoderProcess {
  readonly #child: ChildProcess;
  readonly #socket: Socket;
  readonly #limits: ProcessLimits;
  readonly #events: ProcessEvents;
  /** In the order sent. No `Map`: its tables would keep finished calls alive until the next full collection. */
  #underWay: PoolJob[] = [];
  #bytes = 0;
  /** Usual time of those jobs together. */
  #usualMs = 0;
  /** Jobs sent, and jobs that have left this process completely: long ones take many turns of the event loop. */
  #sent = 0;
  #delivered = 0;
  /** No job is sent after the newest one, which may be long. */
  #closed = false;
  /** Frames to write, each with the number of jobs that have left after it. */
  #outgoing: { frame: Buffer; jobs: number }[] = [];
  #isWriting = false;
  readonly #knowledge = new ProcessKnowledge();
  readonly #watch: RunWatch;
  #killed: EndReason | null = null;
  #gone = false;
  /** It may be running a job that was given back, so its end cannot be blamed on one. */
  #isSpoilt = false;
  #retiring = false;
  readonly #done: Promise<void>;
  isReady = false;
  runs = 0;

  constructor(limits: ProcessLimits, events: ProcessEvents) {
    this.#limits = limits;
    this.#events = events;
    const { command, args } = decoderCommand(limits.memoryMb, limits.worker);
    // The server's environment stays out; local time is UTC on every machine.
    const child = spawn(command, args, { env: { TZ: 'UTC' }, stdio: ['ignore', 'ignore', 'ignore', 'pipe'], cwd: '/' });
    this.#child = child;
    this.#watch = new RunWatch(child.pid, limits);
    // Out of file descriptors, the child has no socket and ends with an error.
    this.#socket = ((child.stdio as ChildProcess['stdio'] | undefined)?.[3] as Socket | undefined) ?? new Socket();
    const reader = new FrameReader(MAX_RESULT_BYTES);
    this.#socket.on('data', (chunk: Buffer) => {
      try {
        reader.push(chunk, (frame) => this.#take(frame));
      } catch {
        // Invalid frames: something other than our code writes them.
        this.kill('ENDED');
      }
    });
    this.#socket.on('error', () => {
      // After an outside kill unread data is an error here, before the exit is reported.
      this.#retiring = true;
      this.#end();
    });
    this.#done = new Promise((resolve) => {
      const end = (): void => {
        this.#lost();
        resolve();
      };
      // Crashes of V8 itself are SIGABRT, SIGTRAP and the like.
      child.on('exit', (_code, signal) => {
        if (signal !== null && OUTSIDE_SIGNALS.has(signal)) this.#killed ??= 'KILLED';
      });
      // `exit` may come before the last result was read, `close` comes after.
      child.on('close', end);
      child.on('error', end);
    });
    if (limits.priority > 0) this.standBack(limits.priority);
  }

  /** Lowers the priority of the process (as of `nice`), for good. */
  standBack(priority: number): void {
    lowerPriority(this.#child.pid, priority);
  }

  get load(): number {
    return this.#underWay.length;
  }

  /** Time it has been at its current work, in ms. */
  busyMs(now: number): number {
    return this.#canRun ? now - this.#watch.since : 0;
  }

  /** Time it has had no work, in ms. */
  idleMs(now: number): number {
    return this.#underWay.length === 0 ? now - this.#watch.since : 0;
  }

  /** Job that is running; null: none, or unknown. */
  get runningJob(): PoolJob | null {
    const [first] = this.#underWay;
    return first !== undefined && (this.#underWay.length === 1 || first.isAlone) ? first : null;
  }

  /** Whether jobs of other workspaces wait here behind a run that takes long. */
  holdsUp(now: number): boolean {
    const [first] = this.#underWay;
    const isShared = this.#killed === null && this.runningJob === null && this.#watch.isComputing && this.#canRun;
    const isBehind = ({ product }: PoolJob): boolean => product.workspace !== must(first).product.workspace;
    return isShared && this.busyMs(now) > HELD_UP_MS && this.#underWay.some(isBehind);
  }

  /**
   * Gives back the jobs of other workspaces than the first job's, to run elsewhere and alone: the long one may be among
   * them. Later answers to them are ignored, and the process ends after the rest.
   */
  letGo(costMs: number): PoolJob[] {
    const { workspace } = must(this.#underWay[0]).product;
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

  /** Sends a job; all that is sent within one turn of the event loop is written together at its end. */
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

  /** Kills the process if the running job is over its limits; call it every few milliseconds. */
  watch(now: number): void {
    if (this.#killed !== null || this.#gone) return;
    const isIdle = this.isReady && this.#underWay.length === 0;
    if (isIdle) return;
    const verdict = this.#canRun ? this.#watch.verdict(now) : this.#watch.startVerdict(now);
    if (verdict !== null) this.kill(verdict);
  }

  /** Whether the oldest job can run, as all of it has left. Unknown after jobs were given back. */
  get #canRun(): boolean {
    return this.#isSpoilt || this.#delivered > this.#sent - this.#underWay.length;
  }

  /** Resident memory in MB; 0 if unknown. */
  rssMb(): number {
    return residentMb(this.#child.pid);
  }

  /** Kills the process. `GIVEN_BACK` blames no job: a run has no effects, so it can begin again elsewhere. */
  kill(reason: EndReason): void {
    this.#killed ??= reason;
    this.#child.kill('SIGKILL');
  }

  /** Whether it has jobs of the product from other sources, which would not come back by themselves. */
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

  /** Writes piece by piece, so that a job whose frames have all left is known to be able to run. */
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

  /** Notes that this many jobs have left. */
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
    // Reads all numbers first: a short frame throws, and its job must then count as lost.
    const id = frame.readUInt32LE(1);
    const took = {
      durationMs: frame.readUInt32LE(5) / 1000,
      wallMs: frame.readUInt32LE(9) / 1000,
      usedMs: frame.readUInt32LE(13) / 1000,
      keptMs: frame.readUInt32LE(17) / 1000,
    };
    const at = this.#underWay.findIndex((job) => job.id === id);
    if (at < 0) return;
    const job = must(this.#underWay.splice(at, 1)[0]);
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
    // The oldest job may have ended without its result being written; jobs that run alone have no such doubt.
    const reason = this.#isSpoilt ? 'GIVEN_BACK' : (this.#killed ?? 'ENDED');
    let count = reason === 'GIVEN_BACK' ? 0 : Math.min(1, jobs.length);
    if (count === 1 && !must(jobs[0]).isAlone) while (count < jobs.length && !must(jobs[count]).isAlone) count += 1;
    this.#events.gone({ reason, blame: jobs.slice(0, count), rest: jobs.slice(count), busyMs, wasReady: this.isReady });
  }
}
