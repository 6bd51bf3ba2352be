import type { Logger } from 'pino';
import { LocalWriteLimiter, type WriteLimiter } from '../domain/measurements/write-limiter.ts';
import { OnceAMinute } from './once-a-minute.ts';
import type { RedisLink } from './redis-link.ts';

/**
 * A key holds the interval that it was set with: once the limit has changed, it is not its end that counts, but how long ago it was set.
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
 * The write limit over all nodes: one trip for a request. While Redis is away, or has not answered within 250 ms, each
 * node limits for itself.
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
    // One request has waited in vain already: the others do not.
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
    // Kept for a moment too long when Redis is away: the sender's next try comes later anyway.
    this.#redis.run((client) => client.del(keys), ANSWER_MS).catch(() => {});
  }

  #keys(deviceKey: number, fieldKeys: number[]): string[] {
    return fieldKeys.map((fieldKey) => `${this.#prefix}:write:${deviceKey}:${fieldKey}`);
  }
}
