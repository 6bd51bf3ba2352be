import { AppError } from '../../errors.ts';
import type { LiveEvent } from '../live/live-stream.ts';
import type { LiveQueue } from '../../scheduling/bounded-stream.ts';
import type { EventLoopQueue } from '../../scheduling/event-loop-queue.ts';
import type { Promised } from '../context/promised.ts';
import type { WorkBudget } from '../context/work-budget.ts';
import type { UntilIdle } from './until-idle.ts';
import { type SocketSession, TRY_AGAIN_LATER } from './socket-session.ts';

/** Maximum events answered before the socket is asked again whether its reader keeps up. */
const AT_ONCE = 50;

/** A message with a result of the operation, as JSON; a long one is one buffer already. */
export function nextMessage(id: string, payload: string | Buffer): string | Buffer {
  const head = `{"id":${JSON.stringify(id)},"type":"next","payload":`;
  return typeof payload === 'string'
    ? `${head}${payload}}`
    : Buffer.concat([Buffer.from(head), payload, Buffer.from('}')]);
}

interface EventPushDeps {
  /** The subscription's id. */
  id: string;
  session: SocketSession;
  /** Ends with the subscription. */
  budget: WorkBudget;
  events: LiveQueue<LiveEvent>;
  /** Kept until the end of the events. */
  kept: UntilIdle;
  /** A thousand subscriptions that are told of the same at once send it in turns. */
  turns: EventLoopQueue;
  /** The payload of an event as JSON; null: there is nothing to tell. */
  payloadOf: (event: LiveEvent) => Promised<string | Buffer | null>;
  /** Told of the messages and characters that were handed to the socket. */
  onPushed: (messages: number, characters: number) => void;
}

/**
 * Sends the events of one subscription to its socket, many at a time. graphql-ws sees results that never come, and their
 * end. A reader too slow for its events loses the connection.
 */
export class EventPush implements AsyncIterableIterator<never> {
  readonly #deps: EventPushDeps;

  constructor(deps: EventPushDeps) {
    this.#deps = deps;
  }

  /** Resolves at the end of the events. */
  async next(): Promise<IteratorResult<never>> {
    await this.#deps.kept.during(() => this.#pushAll());
    return { value: undefined, done: true };
  }

  async #pushAll(): Promise<void> {
    const { events, session } = this.#deps;
    try {
      for (;;) {
        const taken = await events.take(AT_ONCE);
        if (taken.length === 0) break;
        await this.#push(taken);
      }
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'OVERLOADED') throw error;
      session.end(TRY_AGAIN_LATER, 'subscriber too slow, resume with "after"');
    } finally {
      await events.return();
    }
  }

  async return(): Promise<IteratorResult<never>> {
    await this.#deps.events.return();
    return { value: undefined, done: true };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #push(taken: readonly LiveEvent[]): Promise<void> {
    const { session, budget, payloadOf } = this.#deps;
    let ready: (string | Buffer)[] = [];
    for (const event of taken) {
      // No event is answered for a session that has lost its rights, or is gone.
      if (session.ending || budget.isEnded) return;
      const coming = payloadOf(event);
      const isAwaited = coming instanceof Promise;
      if (isAwaited) {
        // It may fail while those before it wait for their turn: an unhandled rejection would end the process.
        coming.catch(() => {});
        await this.#send(ready);
        ready = [];
      }
      const payload = isAwaited ? await coming : coming;
      if (payload !== null) ready.push(payload);
    }
    await this.#send(ready);
    await session.sent();
  }

  async #send(payloads: readonly (string | Buffer)[]): Promise<void> {
    if (payloads.length === 0) return;
    const { id, session, turns, onPushed } = this.#deps;
    await turns.run(async () => {
      if (session.ending) return;
      let characters = 0;
      for (const payload of payloads) {
        session.push(nextMessage(id, payload));
        characters += payload.length;
      }
      onPushed(payloads.length, characters);
    });
  }
}
