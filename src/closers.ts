/** Closes what was opened, last first, within one deadline for all of it. */
export class Closers {
  readonly #closers: { name: string; close: () => unknown }[] = [];

  add(name: string, close: () => unknown): void {
    this.#closers.push({ name, close });
  }

  /** Closes everything; resolves with what failed or did not end in time. */
  async closeAll(deadlineMs: number): Promise<{ name: string; error: unknown }[]> {
    const end = performance.now() + deadlineMs;
    const failed: { name: string; error: unknown }[] = [];
    for (const { name, close } of this.#closers.splice(0).reverse()) {
      try {
        // Even past the deadline each one gets a moment to begin.
        await within(Promise.resolve(close()), Math.max(100, end - performance.now()));
      } catch (error) {
        failed.push({ name, error });
      }
    }
    return failed;
  }
}

async function within(work: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`did not end within ${Math.round(ms)} ms`)), ms);
  });
  try {
    await Promise.race([work, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
