import 'reflect-metadata';
import { Field, Int, ObjectType } from 'type-graphql';

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
