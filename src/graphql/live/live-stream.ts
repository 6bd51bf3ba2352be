/**
 * A live stream with each event turned into what subscribers get; null leaves the event out. Ending it ends the queue
 * that it reads from, so that nobody waits for an event that nobody wants. `endsOn`: whether an error just ends the
 * stream (somebody else tells the reader why).
 */
export function liveStream<Event, Result>(
  queue: AsyncIterableIterator<Event>,
  toResult: (event: Event) => Promise<Result | null>,
  endsOn: (error: unknown) => boolean = () => false,
): AsyncGenerator<Result, void> {
  async function* results(): AsyncGenerator<Result, void> {
    try {
      for await (const event of queue) {
        const result = await toResult(event);
        if (result !== null) yield result;
      }
    } catch (error) {
      if (!endsOn(error)) throw error;
    }
  }
  const stream = results();
  const end = stream.return.bind(stream);
  // A generator answers `return` only after the `next` that waits: with the queue at its end, none does.
  stream.return = async (value) => {
    await queue.return?.();
    return end(value);
  };
  return stream;
}
