import type { Logger } from 'pino';
import type { createClient } from 'redis';
import { LocalWriteLimiter, type WriteLimiter } from '../domain/measurements/write-limiter.ts';

/** Takes each key in turn, so that a field sent twice in one request is refused the second time. */
const RESERVE = `
local allowed = {}
for at, key in ipairs(KEYS) do
  allowed[at] = redis.call('SET', key, '1', 'NX', 'PX', ARGV[1]) and 1 or 0
end
return allowed`;

/** The write limit over all nodes: one trip for a request. While Redis is away each node limits for itself. */
export class RedisWriteLimiter implements WriteLimiter {
  readonly #client: ReturnType<typeof createClient>;
  readonly #prefix: string;
  readonly #log: Logger;
  readonly #local = new LocalWriteLimiter();

  constructor(client: ReturnType<typeof createClient>, prefix: string, log: Logger) {
    this.#client = client;
    this.#prefix = prefix;
    this.#log = log;
  }

  async reserve(deviceKey: number, fieldKeys: number[], intervalMs: number): Promise<boolean[]> {
    try {
      const allowed = (await this.#client.eval(RESERVE, {
        keys: this.#keys(deviceKey, fieldKeys),
        arguments: [String(Math.max(1, Math.ceil(intervalMs)))],
      })) as number[];
      return allowed.map((flag) => flag === 1);
    } catch (error) {
      this.#log.warn({ err: error }, 'write limit without Redis: for this node only');
      return this.#local.reserve(deviceKey, fieldKeys, intervalMs);
    }
  }

  giveBack(deviceKey: number, fieldKeys: number[]): void {
    this.#local.giveBack(deviceKey, fieldKeys);
    this.#client.del(this.#keys(deviceKey, fieldKeys)).catch(() => {});
  }

  #keys(deviceKey: number, fieldKeys: number[]): string[] {
    return fieldKeys.map((fieldKey) => `${this.#prefix}:write:${deviceKey}:${fieldKey}`);
  }
}
