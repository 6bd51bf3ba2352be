import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { decoderCommand } from './decoder-command.ts';
import { encodeFrame, ENTRY_POINTS, FRAME, FrameReader, RUN_FLAG } from './frames.ts';
import type { PoolJob, PoolProduct } from './pool-job.ts';
import { lowerPriority, processorUse, residentMb } from './process-usage.ts';

export interface ProcessLimits {
  timeoutMs: number;
  memoryMb: number;
  /** Jobs under way at once: the next is there when one ends. */
  window: number;
  /** As of `nice`. */
  priority: number;
  /** Another program than decoder.worker. */
  worker?: string | undefined;
}

export interface ProcessEvents {
  ready(): void;
  result(job: PoolJob, durationMs: number, text: string): void;
  /** The process is gone. `blame`: the jobs of which one was running; `rest`: those that had not begun. */
  gone(reason: 'TIMEOUT' | 'OUT_OF_MEMORY' | 'ENDED', blame: PoolJob[], rest: PoolJob[], wasReady: boolean): void;
}

/** How late isolated-vm may end a run, and a new isolate be made, before the process is killed. */
const GRACE_MS = 150;
const MAX_BYTES_UNDER_WAY = 4 << 20;
const KNOWN_SOURCES = 200;
const KNOWN_SERIALS = 50;
/** 1 MiB of characters outside ASCII, or in quotes twice, and the console. */
const MAX_RESULT_BYTES = 8 << 20;
const START_MS = 15_000;
const MAX_STARVED = 8;
/** A run is repeated so many times at most with what it asked for. */
export const MAX_ROUNDS = 5;
const TRUSTED_RUNS = 10;

/** One decoder process (`decoder.worker.ts`): sends it jobs, knows which one is running, and kills it over its limits. */
export class DecoderProcess {
  #child: ChildProcess;
  #socket: Socket;
  #limits: ProcessLimits;
  #events: ProcessEvents;
  #underWay = new Map<number, PoolJob>();
  #bytes = 0;
  /** The newest job under way may be a long one: nothing is sent after it that would have to wait for it. */
  #closed = false;
  #outgoing: Buffer[] = [];
  #sources = new Set<number>();
  #serials = new Map<number, string>();
  /** Since when the oldest job under way can be running. */
  #since = performance.now();
  #killed: 'TIMEOUT' | 'OUT_OF_MEMORY' | 'ENDED' | null = null;
  #gone = false;
  #retiring = false;
  #blameless = false;
  #done: Promise<void>;
  /** Memory of the process when no run was using it. */
  #idleRssMb = 0;
  /** Processor time of the process when the run that is being watched began. */
  #idleCpuMs = 0;
  /** At the last look at a run past its time. */
  #lastCpuMs = -1;
  #watchedSince = 0;
  isReady = false;
  runs = 0;

  constructor(limits: ProcessLimits, events: ProcessEvents) {
    this.#limits = limits;
    this.#events = events;
    const { command, args } = decoderCommand(limits.memoryMb, limits.worker);
    // No variable of the server's environment gets in; local time is UTC on every machine.
    const child = spawn(command, args, { env: { TZ: 'UTC' }, stdio: ['ignore', 'ignore', 'ignore', 'pipe'], cwd: '/' });
    this.#child = child;
    this.#socket = child.stdio[3] as Socket;
    const reader = new FrameReader(MAX_RESULT_BYTES);
    this.#socket.on('data', (chunk: Buffer) => {
      try {
        reader.push(chunk, (frame) => this.#take(frame));
      } catch {
        // Frames that are none: whatever writes them is not our code any more.
        this.kill('ENDED');
      }
    });
    this.#socket.on('error', () => this.kill('ENDED'));
    this.#done = new Promise((resolve) => {
      const end = (): void => {
        this.#lost();
        resolve();
      };
      // `close` comes after the last result has been read, `exit` may come before.
      child.on('close', end);
      child.on('error', end);
    });
    if (limits.priority > 0) lowerPriority(this.#child.pid, this.#limits.priority);
  }

  /** Takes another place in the pool; a priority can only be lowered. */
  become(role: Pick<ProcessLimits, 'window' | 'priority'>): void {
    const lower = role.priority > this.#limits.priority;
    this.#limits = { ...this.#limits, ...role };
    if (lower) lowerPriority(this.#child.pid, this.#limits.priority);
  }

  /** Made to stand back behind everybody else. */
  get isLow(): boolean {
    return this.#limits.priority > 0;
  }

  get load(): number {
    return this.#underWay.size;
  }

  /** For how long it has been at what it is doing. */
  busyMs(now: number): number {
    return this.#underWay.size === 0 ? 0 : now - this.#since;
  }

  /** Whose run it is at; null: nobody's, or it cannot be known. */
  get runningProduct(): PoolProduct | null {
    const [first] = this.#underWay.values();
    return first !== undefined && (this.#underWay.size === 1 || isAlone(first)) ? first.product : null;
  }

  hasRoom(): boolean {
    return (
      this.isReady &&
      !this.#retiring &&
      !this.#closed &&
      this.#killed === null &&
      !this.#gone &&
      this.#underWay.size < this.#limits.window &&
      (this.#underWay.size === 0 || this.#bytes < MAX_BYTES_UNDER_WAY)
    );
  }

  /** Hands over a job; what is sent within one turn of the event loop leaves in one piece. */
  send(job: PoolJob): void {
    if (this.#underWay.size === 0) {
      const now = performance.now();
      // Looked up now and then: a look costs as much as a run.
      if (now - this.#since > 100 || this.#idleRssMb === 0) {
        this.#idleRssMb = this.rssMb();
      }
      this.#since = now;
    }
    this.#underWay.set(job.id, job);
    this.#bytes += job.inputBytes;
    this.runs += 1;
    const alone = isAlone(job);
    this.#closed = alone;
    if (job.job === null) {
      this.#queue(encodeFrame(FRAME.CHECK, [job.id], job.source.text));
      return;
    }
    this.#supply(job);
    const lastRound = job.round >= MAX_ROUNDS;
    const flags =
      (lastRound ? RUN_FLAG.LAST_ROUND : 0) |
      (alone ? RUN_FLAG.ALONE : 0) |
      (ENTRY_POINTS.indexOf(job.job.entryPoint) << RUN_FLAG.ENTRY_SHIFT);
    const timeout = Math.max(1, Math.round(this.#limits.timeoutMs - job.spentMs));
    const lookedUp = job.lookedUp.text;
    const numbers = [job.id, job.product.no, job.source.no, timeout, flags, job.inputBytes];
    this.#queue(encodeFrame(FRAME.RUN, numbers, job.job.input, lookedUp));
  }

  /** Kills the process when the running job is over its limits; to be called every few milliseconds. */
  watch(now: number): void {
    if (this.#killed !== null || this.#gone) return;
    const busyMs = now - this.#since;
    if (!this.isReady && busyMs > START_MS) this.kill('ENDED');
    if (this.#underWay.size === 0) return;
    if (busyMs < 15) return;
    const { timeoutMs, memoryMb } = this.#limits;
    const rssMb = this.rssMb();
    if (this.#idleRssMb === 0) this.#idleRssMb = rssMb;
    if (this.#watchedSince !== this.#since) {
      this.#watchedSince = this.#since;
      this.#idleCpuMs = processorUse(this.#child.pid).ms - busyMs;
    }
    const grownMb = rssMb - this.#idleRssMb;
    if (grownMb > memoryMb * 2 + 32) this.kill('OUT_OF_MEMORY');
    else if (busyMs > timeoutMs + GRACE_MS) {
      // On a machine that is short of processors time passes without the run having had any of it.
      const { ms, sleeping } = processorUse(this.#child.pid);
      const asleep = sleeping && ms === this.#lastCpuMs;
      this.#lastCpuMs = ms;
      const starved = ms - this.#idleCpuMs < timeoutMs + GRACE_MS / 2;
      if (starved && !asleep && busyMs < (timeoutMs + GRACE_MS) * MAX_STARVED) return;
      // Out of memory, isolated-vm may put the thread to sleep for good: that is not waiting for a processor.
      this.kill(grownMb > memoryMb || (starved && asleep) ? 'OUT_OF_MEMORY' : 'TIMEOUT');
    }
  }

  /** Resident memory in MB; 0 where that cannot be known. */
  rssMb(): number {
    return residentMb(this.#child.pid);
  }

  kill(reason: 'TIMEOUT' | 'OUT_OF_MEMORY' | 'ENDED'): void {
    this.#killed ??= reason;
    this.#child.kill('SIGKILL');
  }

  carries(product: PoolProduct): boolean {
    for (const job of this.#underWay.values()) if (job.product === product) return true;
    return false;
  }

  /** Gives all jobs under way back, blaming none: a run has no effects, so it can begin again elsewhere. */
  giveBack(): void {
    this.#blameless = true;
    this.kill('ENDED');
  }

  /** Takes no more jobs and ends after those under way. Resolves when the process is gone. */
  retire(): Promise<void> {
    this.#retiring = true;
    if (this.#underWay.size === 0) this.#end();
    return this.#done;
  }

  #end(): void {
    if (this.isReady) this.#socket.end();
    else this.kill('ENDED');
  }

  #queue(frame: Buffer): void {
    this.#outgoing.push(frame);
    if (this.#outgoing.length > 1) return;
    queueMicrotask(() => {
      const frames = this.#outgoing;
      this.#outgoing = [];
      if (this.#socket.writable) this.#socket.write(frames.length === 1 ? frames[0]! : Buffer.concat(frames));
    });
  }

  /** Sends what the job needs and the process does not know yet. */
  #supply({ source, product, serials }: PoolJob): void {
    if (!this.#sources.delete(source.no)) {
      this.#queue(encodeFrame(FRAME.SOURCE, [source.no], source.text));
      if (this.#sources.size >= KNOWN_SOURCES) {
        const [oldest] = this.#sources;
        this.#sources.delete(oldest!);
        this.#queue(encodeFrame(FRAME.DROP_SOURCE, [oldest!], ''));
      }
    }
    this.#sources.add(source.no);
    if (serials !== null && this.#serials.get(product.no) !== serials.version) {
      this.#queue(encodeFrame(FRAME.SERIALS, [product.no], serials.text));
      this.#serials.delete(product.no);
      this.#serials.set(product.no, serials.version);
      if (this.#serials.size > KNOWN_SERIALS) {
        const [oldest] = this.#serials.keys();
        this.#serials.delete(oldest!);
        this.#queue(encodeFrame(FRAME.SERIALS, [oldest!], ''));
      }
    }
  }

  #take(frame: Buffer): void {
    if (frame[0] === FRAME.READY) {
      this.isReady = true;
      this.#events.ready();
      return;
    }
    const job = this.#underWay.get(frame.readUInt32LE(1));
    if (job === undefined) return;
    this.#underWay.delete(job.id);
    this.#bytes -= job.inputBytes;
    if (this.#underWay.size === 0) this.#closed = false;
    const now = performance.now();
    // A long run may have left memory behind that is not its successor's.
    if (now - this.#since > 15) this.#idleRssMb = 0;
    this.#since = now;
    this.#events.result(job, frame.readUInt32LE(5) / 1000, frame.toString('utf8', 9));
    if (this.#retiring && this.#underWay.size === 0) this.#end();
  }

  #lost(): void {
    if (this.#gone) return;
    this.#gone = true;
    const jobs = [...this.#underWay.values()];
    this.#underWay.clear();
    // The oldest may have ended with its result not written yet; jobs that run alone write around themselves.
    let count = this.#blameless ? 0 : Math.min(1, jobs.length);
    if (count === 1 && !isAlone(jobs[0]!)) while (count < jobs.length && !isAlone(jobs[count]!)) count += 1;
    this.#events.gone(this.#killed ?? 'ENDED', jobs.slice(0, count), jobs.slice(count), this.isReady);
  }
}

/** Its result is written around it alone, so it is known when it runs. */
function isAlone(job: PoolJob): boolean {
  return job.job === null || job.source.trust < TRUSTED_RUNS;
}
