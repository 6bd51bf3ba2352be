import { giveWay } from './give-way.ts';

/** In bytes or characters: what a megabyte says takes 50 ms to read, and as long to decide. */
const HEAVY = 131_072;

/**
 * Work on what somebody sent in one piece: of what is heavy each turn of the event loop takes one, as many may come in
 * together. Tenants take turns: whoever sends one does not stand behind the hundred of another.
 */
export class HeavyTurns {
  /** By tenant, the next one first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #goesOn = false;

  /** Resolves when the next piece of work on so many bytes may begin: for few of them at once. */
  async next(bytes: number, tenant = ''): Promise<void> {
    if (bytes <= HEAVY) return;
    await new Promise<void>((begin) => {
      const line = this.#waiting.get(tenant);
      if (line === undefined) this.#waiting.set(tenant, [begin]);
      else line.push(begin);
      if (!this.#goesOn) void this.#goOn();
    });
  }

  async #goOn(): Promise<void> {
    this.#goesOn = true;
    for (;;) {
      await giveWay();
      const next = this.#waiting.entries().next().value;
      if (next === undefined) break;
      const [tenant, line] = next;
      this.#waiting.delete(tenant);
      line.shift()?.();
      if (line.length > 0) this.#waiting.set(tenant, line);
    }
    this.#goesOn = false;
  }
}
