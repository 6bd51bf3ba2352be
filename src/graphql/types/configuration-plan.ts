import 'reflect-metadata';
import { Field, Int, ObjectType } from 'type-graphql';
import { Json } from './json.ts';

@ObjectType('ConfigurationChange', { simpleResolvers: true, description: 'One difference in a configuration.' })
class ConfigurationChange {
  @Field(() => String, { description: 'CREATE, UPDATE or DELETE.' })
  action!: string;

  @Field(() => String, { description: 'Where, as in the document: products[soil].fields[TEMPERATURE].unit.' })
  path!: string;

  @Field(() => Json, { nullable: true, description: 'The value before; null: none.' })
  before!: unknown;

  @Field(() => Json, { nullable: true, description: 'The value after; null: none.' })
  after!: unknown;

  @Field(() => Int, {
    nullable: true,
    description: 'Number of measurements that the change would delete, or has; null: it can delete none.',
  })
  measurements!: number | null;
}

@ObjectType('ConfigurationBlock', {
  simpleResolvers: true,
  description: 'A reason why a document cannot be applied.',
})
class ConfigurationBlock {
  @Field(() => String, { description: 'Where, as in the document.' })
  path!: string;

  @Field(() => String, { description: 'What is wrong there, and what to do.' })
  message!: string;
}

@ObjectType('ConfigurationPlan', {
  simpleResolvers: true,
  description: 'What a document would change, or has. Nothing to do: all three lists are empty.',
})
export class ConfigurationPlanObject {
  @Field(() => String, {
    description: 'Stands for the plan and all that it concerns: what applyConfiguration is told.',
  })
  hash!: string;

  @Field(() => [ConfigurationChange], { description: 'What would change in the workspace, to be as in the document.' })
  pending!: ConfigurationChange[];

  @Field(() => [ConfigurationChange], {
    description:
      'What other hands have changed since this set was last applied, as far as the document says otherwise or nothing.',
  })
  drift!: ConfigurationChange[];

  @Field(() => [ConfigurationBlock], { description: 'Why it cannot be applied; empty: it can.' })
  blocked!: ConfigurationBlock[];
}
