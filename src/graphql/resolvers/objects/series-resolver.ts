import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { GraphqlContext } from '../../context/graphql-context.ts';
import { SeriesObject } from '../../types/measurement.ts';

/** The columns of a series: under several names they count several times. */
@Resolver(() => SeriesObject)
export class SeriesResolver {
  @FieldResolver()
  timestamps(@Root() { timestamps }: SeriesObject, @Ctx() { points }: GraphqlContext): number[] {
    points.show(timestamps);
    return timestamps;
  }

  @FieldResolver()
  values(@Root() { values }: SeriesObject, @Ctx() { points }: GraphqlContext): SeriesObject['values'] {
    points.show(values);
    return values;
  }
}
