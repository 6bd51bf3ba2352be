import 'reflect-metadata';
import { Field, Int, ObjectType } from 'type-graphql';
import { DateTime } from './date-time.ts';

/** Parent: plain. */
@ObjectType('Plan', { simpleResolvers: true, description: 'What covers devices of a workspace.' })
export class PlanObject {
  @Field(() => String, { description: 'The name to give as `plan`.' })
  slug!: string;

  @Field(() => String, { description: 'The name that people read.' })
  name!: string;

  @Field(() => Int, { nullable: true, description: 'How many devices of a workspace it covers; null: any number.' })
  deviceAllowance!: number | null;

  @Field(() => Int, { nullable: true, description: 'How long history is kept; null: for ever.' })
  retentionDays!: number | null;
}

/** Parent: the domain's HistoryLoss. */
@ObjectType('PlanChange', { simpleResolvers: true, description: "What another plan would take of a device's history." })
export class PlanChangeObject {
  @Field(() => String, { description: 'The slug of the other plan.' })
  plan!: string;

  @Field(() => Int, { nullable: true, description: 'How long it keeps history; null: for ever.' })
  retentionDays!: number | null;

  @Field(() => Int, { description: 'So many values would go; the newest of each field stays.' })
  measurements!: number;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When they would go at the earliest, if the plan was changed now; null: nothing would.',
  })
  goesAt!: number | null;
}
