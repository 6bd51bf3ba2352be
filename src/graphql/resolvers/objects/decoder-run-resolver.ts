import { Ctx, FieldResolver, Float, Resolver, Root } from 'type-graphql';
import { LoggedRun } from '../../../domain/calls/logged-run.ts';
import type { DecoderRun as Run } from '../../../domain/decoders/decoder-run.ts';
import { EventLoopQueue } from '../../../scheduling/event-loop-queue.ts';
import { LANES } from '../../../scheduling/lanes.ts';
import type { GraphqlContext } from '../../context/graphql-context.ts';
import type { Promised } from '../../context/promised.ts';
import { ShownJson } from '../../context/shown-json.ts';
import { DecoderError, DecoderRun, EntryOutcomeObject } from '../../types/decoder.ts';
import { Json } from '../../types/json.ts';
import { WebhookAnswerObject } from '../../types/product.ts';

/** Bytes of an entry in memory beside its text. */
const ENTRY_BYTES = 400;

/** Parts of a run: those of a logged one are found, and parsed, one after the other. */
@Resolver(() => DecoderRun)
export class DecoderRunResolver {
  readonly #turns = new EventLoopQueue(LANES.decoderOutputs);

  @FieldResolver(() => Json, { nullable: true, description: 'What Decoder returned, as JSON.' })
  output(@Root() run: Run, @Ctx() context: GraphqlContext): Promised<unknown> {
    if (!(run instanceof LoggedRun)) return run.output;
    return this.#inTurn(run, context, () => new ShownJson(run.outputText, (output) => run.shownOutput(output)));
  }

  @FieldResolver(() => [String], { description: 'What the decoder printed, line by line, 64 KiB at most.' })
  console(@Root() run: Run, @Ctx() context: GraphqlContext): Promised<string[]> {
    return this.#inTurn(run, context, () => run.console);
  }

  @FieldResolver(() => DecoderError, { nullable: true, description: 'Why the run failed; null: it did not.' })
  error(@Root() run: Run, @Ctx() context: GraphqlContext): Promised<DecoderError | null> {
    return this.#inTurn(run, context, () => run.error);
  }

  @FieldResolver(() => WebhookAnswerObject, {
    nullable: true,
    description: 'What the decoder has its sender answered ({entries, answer}); null: what the product says.',
  })
  answer(@Root() run: Run, @Ctx() context: GraphqlContext): Promised<WebhookAnswerObject | null> {
    return this.#inTurn(run, context, () => run.answer);
  }

  @FieldResolver(() => Float, { description: 'How long the run took, in milliseconds.' })
  durationMs(@Root() run: Run, @Ctx() context: GraphqlContext): Promised<number> {
    return this.#inTurn(run, context, () => run.durationMs);
  }

  @FieldResolver(() => [EntryOutcomeObject], {
    description: 'What became of each entry that the decoder returned, or would become of it.',
  })
  entries(@Root() run: Run, @Ctx() context: GraphqlContext): Promised<EntryOutcomeObject[]> {
    return this.#inTurn(run, context, () => run.entries, bytesOfEntries);
  }

  @FieldResolver(() => Boolean, { description: 'Output or entries were too long for the call log and are cut there.' })
  truncated(@Root() run: Run, @Ctx() context: GraphqlContext): Promised<boolean> {
    return this.#inTurn(run, context, () => run.truncated);
  }

  /** `bytesOf`: the bytes of a part in memory. */
  #inTurn<T>(run: Run, { budget }: GraphqlContext, read: () => T, bytesOf: (part: T) => number = () => 0): Promised<T> {
    if (!(run instanceof LoggedRun)) return read();
    const make = async (): Promise<T> => {
      budget.check();
      return read();
    };
    return budget.inOrder(() => this.#turns.run(make), bytesOf);
  }
}

function bytesOfEntries(entries: readonly unknown[]): number {
  return entries.length * ENTRY_BYTES;
}
