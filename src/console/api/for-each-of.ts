const AT_ONCE = 4;

/** Does the work for each item, a few at a time; stops at the first failure and throws it, and takes none when aborted. */
export async function forEachOf<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  const waiting = items.values();
  const one = async (): Promise<void> => {
    for (const item of waiting) {
      if (signal?.aborted === true) return;
      await work(item);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
}
