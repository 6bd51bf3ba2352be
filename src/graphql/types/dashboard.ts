import 'reflect-metadata';
import { Field, ID, ObjectType } from 'type-graphql';
import { DateTime } from './date-time.ts';

/** Parent: the Dashboard entity. `key` and `widgets` are in resolvers/objects. */
@ObjectType('Dashboard', {
  simpleResolvers: true,
  description: 'A dashboard over devices of a workspace; that of one product is Product.dashboard.',
})
export class DashboardObject {
  @Field(() => ID, { description: 'The id of the dashboard, a UUID.' })
  id!: string;

  @Field(() => String, { description: 'The name that people read, 1 to 200 characters.' })
  name!: string;

  @Field(() => DateTime, { description: 'When it was created.' })
  createdAt!: number;
}
