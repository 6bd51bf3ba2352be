import type { Logger } from 'pino';
import { FRAME_WINDOW_MS, type FrameClaim, type Frames, LocalFrames } from '../domain/calls/frames.ts';
import { pause } from '../scheduling/pause.ts';
import { OnceAMinute } from './once-a-minute.ts';
import type { RedisLink } from './redis-link.ts';

/** Claims the frame for this call, or returns its earlier claim. */
const CLAIM = `
local known = redis.call('GET', KEYS[1])
if known then return known end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return false`;

const ANSWER_MS = 250;
/** Maximum time to store a call; after it the node must have ended. */
const UNDER_WAY_MS = 30_000;
const LOOK_AGAIN_MS = 50;

/**
 * Frames of all nodes, with one round trip each; they survive a restart. While Redis is away, or does not answer within
 * 250 ms, each node knows its own.
 */
export class RedisFrames implements Frames {
  readonly #redis: RedisLink;
  readonly #prefix: string;
  readonly #complaints: OnceAMinute;
  readonly #local = new LocalFrames();

  constructor(redis: RedisLink, prefix: string, log: Logger) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#complaints = new OnceAMinute(log);
  }

  async claim(frame: string, at: number, callId: string): Promise<FrameClaim> {
    const local = await this.#local.claim(frame, at, callId);
    if ('storedBy' in local) return local;
    try {
      const storedBy = await this.#storedBy(frame, at, callId);
      if (storedBy === null) return this.#claimed(local, frame, at, callId);
      // Known locally from now on.
      local.settle(true);
      return { storedBy };
    } catch (error) {
      this.#complaints.say('frames without Redis: of this node only', error);
      return local;
    }
  }

  note(frame: string, at: number, callId: string): void {
    this.#local.note(frame, at, callId);
  }

  /** The call that has stored the frame; null: this call may store it. */
  async #storedBy(frame: string, at: number, callId: string): Promise<string | null> {
    const claim = { keys: [this.#key(frame)], arguments: [`claimed ${callId} ${at}`, String(UNDER_WAY_MS)] };
    for (;;) {
      const answer = await this.#redis.run((client) => client.eval(CLAIM, claim) as Promise<string | null>, ANSWER_MS);
      if (answer === null) return null;
      const [state, storedBy = '', storedAt] = answer.split(' ');
      if (storedBy === callId || Math.abs(at - Number(storedAt)) > FRAME_WINDOW_MS) return null;
      if (state === 'stored') return storedBy;
      await pause(LOOK_AGAIN_MS);
    }
  }

  #claimed(local: Exclude<FrameClaim, { storedBy: string }>, frame: string, at: number, callId: string): FrameClaim {
    const key = this.#key(frame);
    return {
      settle: (isStored) => {
        local.settle(isStored);
        const [text, PX] = [`stored ${callId} ${at}`, FRAME_WINDOW_MS];
        // If Redis is away, the key expires by itself.
        const kept = isStored
          ? this.#redis.run((client) => client.set(key, text, { PX }), ANSWER_MS)
          : this.#redis.run((client) => client.del(key), ANSWER_MS);
        kept.catch(() => {});
      },
    };
  }

  #key(frame: string): string {
    return `${this.#prefix}:frame:${frame}`;
  }
}
