/** A sleep that others can end. One sleeper at a time. */
export class Alarm {
  #hasRung = false;
  #wake = (): void => {};

  /** Ends the sleep, or the next one when nobody sleeps. */
  ring(): void {
    this.#hasRung = true;
    this.#wake();
  }

  /** Resolves when it rings, at once if it has rung since the last sleep, or after `ms`; the process may end meanwhile. */
  async sleep(ms: number): Promise<void> {
    if (!this.#hasRung)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms).unref();
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    this.#wake = () => {};
    this.#hasRung = false;
  }
}
