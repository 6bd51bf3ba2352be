import type { Logger } from 'pino';
import { LocalWriteLimiter, type WriteLimiter } from '../domain/measurements/write-limiter.ts';
import { OnceAMinute } from './once-a-minute.ts';
import type { RedisLink } from './redis-link.ts';

/**
 * Reserves keys that hold their interval: after a change of the limit the time since a key was set counts, not its
 * expiry.
 */
const RESERVE = `
local interval = tonumber(ARGV[1])
local allowed = {}
for at, key in ipairs(KEYS) do
  allowed[at] = redis.call('SET', key, interval, 'NX', 'PX', interval) and 1 or 0
  if allowed[at] == 0 and redis.call('GET', key) - redis.call('PTTL', key) >= interval then
    redis.call('SET', key, interval, 'PX', interval)
    allowed[at] = 1
  end
end
return allowed`;

const ANSWER_MS = 250;

/**
 * The write limit over all nodes, with one round trip per request. While Redis is away, or does not answer within 250
 * ms, each node limits for itself.
 */
export class RedisWriteLimiter implements WriteLimiter {
  readonly #redis: RedisLink;
  readonly #prefix: string;
  readonly #complaints: OnceAMinute;
  readonly #local = new LocalWriteLimiter();

  constructor(redis: RedisLink, prefix: string, log: Logger) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#complaints = new OnceAMinute(log);
  }

  async reserve(deviceKey: number, fieldKeys: number[], intervalMs: number): Promise<boolean[]> {
    if (fieldKeys.length === 0) return [];
    // Does not wait if another request has already waited in vain.
    if (!this.#redis.up) return this.#local.reserve(deviceKey, fieldKeys, intervalMs);
    const keys = this.#keys(deviceKey, fieldKeys);
    const interval = [String(Math.max(1, Math.ceil(intervalMs)))];
    try {
      const allowed = await this.#redis.run(
        (client) => client.eval(RESERVE, { keys, arguments: interval }) as Promise<number[]>,
        ANSWER_MS,
      );
      return allowed.map((flag) => flag === 1);
    } catch (error) {
      this.#complaints.say('write limit without Redis: for this node only', error);
      return this.#local.reserve(deviceKey, fieldKeys, intervalMs);
    }
  }

  giveBack(deviceKey: number, fieldKeys: number[]): void {
    if (fieldKeys.length === 0) return;
    this.#local.giveBack(deviceKey, fieldKeys);
    const keys = this.#keys(deviceKey, fieldKeys);
    // If Redis is away, the key stays a moment too long; the sender's next try comes later anyway.
    this.#redis.run((client) => client.del(keys), ANSWER_MS).catch(() => {});
  }

  #keys(deviceKey: number, fieldKeys: number[]): string[] {
    return fieldKeys.map((fieldKey) => `${this.#prefix}:write:${deviceKey}:${fieldKey}`);
  }
}
