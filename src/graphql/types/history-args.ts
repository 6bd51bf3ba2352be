import 'reflect-metadata';
import { ArgsType, Field, Int } from 'type-graphql';
import type { SeriesQuery } from '../../domain/history/series-plan.ts';
import type { Aggregation, GapFill } from '../../domain/ports/series-request.ts';
import { DateTime } from './date-time.ts';
import { AggregationEnum, GapFillEnum } from './enums.ts';

/** The form of a history (CONTRACT 7): the same for one device and for many. */
@ArgsType()
export class HistoryArgs implements SeriesQuery {
  @Field(() => [String], { nullable: true, description: 'Left out: every field.' })
  fields?: string[] | null;

  @Field(() => DateTime, { description: 'Inclusive.' })
  from!: number;

  @Field(() => DateTime, { description: 'Exclusive.' })
  to!: number;

  @Field(() => String, {
    nullable: true,
    description:
      'Buckets: 30s, 5m, 1h, 6h, 1d, 1w, 1mo, 3mo, 1y or the like. Seconds and minutes count from 1970-01-01 UTC, all ' +
      'others follow the calendar of timeZone: hours from local midnight, weeks begin on Monday.',
  })
  resolution?: string | null;

  @Field(() => Int, {
    nullable: true,
    description:
      'At most so many for each field: raw values if they fit, else of numbers those that keep the shape (first, ' +
      'smallest, largest and last of each stretch), of others, or with aggregation or fill, buckets of a resolution ' +
      'that fits.',
  })
  maxPoints?: number | null;

  @Field(() => AggregationEnum, {
    nullable: true,
    description: 'Left out: AVG for numbers and booleans (the share of true), LAST for strings and places.',
  })
  aggregation?: Aggregation | null;

  @Field(() => GapFillEnum, { nullable: true, description: 'Left out: NULL.' })
  fill?: GapFill | null;

  @Field(() => String, { nullable: true, description: 'IANA name, such as Europe/Berlin. Left out: UTC.' })
  timeZone?: string | null;
}
