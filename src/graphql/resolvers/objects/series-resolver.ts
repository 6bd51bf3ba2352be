import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { EventLoopQueue } from '../../../scheduling/event-loop-queue.ts';
import type { GraphqlContext } from '../../context/graphql-context.ts';
import type { Promised } from '../../context/promised.ts';
import { SeriesObject } from '../../types/measurement.ts';

/** Columns of so many are answered with all others that are there. */
const FEW = 50;
/** graphql-js takes so long for each value of a list. */
const VALUE_MS = 0.000_125;
const GIVES_WAY_AFTER_MS = 5;

/** The columns of a series: of long ones few come in one turn of the event loop. */
@Resolver(() => SeriesObject)
export class SeriesResolver {
  readonly #turns = new EventLoopQueue(GIVES_WAY_AFTER_MS);

  @FieldResolver()
  timestamps(@Root() { timestamps }: SeriesObject, @Ctx() context: GraphqlContext): Promised<number[]> {
    return this.#inTurn(timestamps, context);
  }

  @FieldResolver()
  values(@Root() { values }: SeriesObject, @Ctx() context: GraphqlContext): Promised<SeriesObject['values']> {
    return this.#inTurn(values, context);
  }

  /** Throws when the same columns are asked for under so many names that it is more than an operation may bring. */
  #inTurn<Column extends readonly unknown[]>(column: Column, { points }: GraphqlContext): Promised<Column> {
    points.show(column);
    if (column.length <= FEW) return column;
    const answer = async (): Promise<Column> => {
      points.check();
      return column;
    };
    return this.#turns.run(answer, column.length * VALUE_MS);
  }
}
