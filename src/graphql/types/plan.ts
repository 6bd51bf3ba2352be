import 'reflect-metadata';
import { Field, Int, ObjectType } from 'type-graphql';

/** Parent: plain. */
@ObjectType('Plan', { simpleResolvers: true })
export class PlanObject {
  @Field(() => String)
  slug!: string;

  @Field(() => String)
  name!: string;

  @Field(() => Int, { nullable: true, description: 'How many devices of a workspace it covers; null: any number.' })
  deviceAllowance!: number | null;

  @Field(() => Int, { nullable: true, description: 'How long history is kept; null: for ever.' })
  retentionDays!: number | null;
}
