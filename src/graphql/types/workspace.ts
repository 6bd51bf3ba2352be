import 'reflect-metadata';
import { Field, ID, ObjectType } from 'type-graphql';

/** Parent: the Workspace entity. `scopes`, `members` and `tokens` are in resolvers/objects. */
@ObjectType('Workspace', {
  simpleResolvers: true,
  description: 'The tenant: products, devices and individual tokens belong to exactly one, users are its members.',
})
export class WorkspaceObject {
  @Field(() => ID, { description: 'The id of the workspace, a UUID.' })
  id!: string;

  @Field(() => String, { description: 'The name that people read, 1 to 200 characters.' })
  name!: string;
}
