const EVERY_MS = 200;
const WIDTH = 24;

/** Progress line on a terminal; prints nothing elsewhere. */
export class Progress {
  readonly #terminal: NodeJS.WriteStream;
  readonly #what: string;
  readonly #begun = performance.now();
  #shownAt = -Infinity;

  constructor(what: string, terminal: NodeJS.WriteStream = process.stderr) {
    this.#what = what;
    this.#terminal = terminal;
  }

  /** `part`: share of all, 0 to 1. */
  show(part: number, count: number): void {
    if (!this.#terminal.isTTY || performance.now() - this.#shownAt < EVERY_MS) return;
    this.#shownAt = performance.now();
    const full = Math.round(Math.min(part, 1) * WIDTH);
    const bar = `${'#'.repeat(full)}${'-'.repeat(WIDTH - full)}`;
    const percent = String(Math.floor(Math.min(part, 1) * 100)).padStart(3);
    this.#terminal.write(`\r[${bar}] ${percent} %  ${this.#counted(count)}\u001B[K`);
  }

  /** Removes the line; returns number and speed for the summary. */
  end(count: number): string {
    if (this.#terminal.isTTY) this.#terminal.write('\r\u001B[K');
    return this.#counted(count);
  }

  #counted(count: number): string {
    const seconds = (performance.now() - this.#begun) / 1000;
    const perSecond = Math.round(count / Math.max(seconds, 0.001));
    return `${count.toLocaleString('en')} ${this.#what}, ${perSecond.toLocaleString('en')}/s`;
  }
}
