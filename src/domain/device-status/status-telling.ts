import { eachInTurns, Slices } from '../../scheduling/yield-to-event-loop.ts';
import type { Turned } from './status-judge.ts';

/** Nobody first, then one who wants to know of that device at a time. */
export type TellStatus = (slices: Slices, ...turned: Turned) => Generator<void, void>;

/** Devices whose status has turned, until who wants to know of them is told: behind the judging of their page, in order. */
export class StatusTelling {
  readonly #tell: TellStatus;
  /** Not told yet: at most those of a page. */
  readonly #turned: Turned[] = [];
  #isOver = false;

  constructor(tell: TellStatus) {
    this.#tell = tell;
  }

  /** One of those that are being judged. */
  add(...turned: Turned): void {
    this.#turned.push(turned);
  }

  /** Nobody is told any more. */
  end(): void {
    this.#isOver = true;
  }

  /** Those of a page; then whoever wants to know is told of those that have turned. */
  async judgeEach<Item>(page: Iterable<Item>, judge: (item: Item) => void): Promise<void> {
    try {
      await eachInTurns(page, judge);
    } finally {
      await this.#tellTurned();
    }
  }

  /** Tens of thousands may wait for each. */
  async #tellTurned(): Promise<void> {
    const slices = new Slices();
    for (let turned = this.#turned.shift(); turned !== undefined; turned = this.#turned.shift()) {
      const telling = this.#tell(slices, ...turned);
      while (telling.next().done !== true) {
        if (slices.isOver) await slices.next();
        // Whoever has come since then is told by those that came after this.
        if (this.#isOver) return;
      }
    }
  }
}
