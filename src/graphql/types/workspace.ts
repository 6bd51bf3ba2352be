import 'reflect-metadata';
import { Field, ID, ObjectType } from 'type-graphql';

/** Parent: the Workspace entity. `members` and `tokens` are in resolvers/objects. */
@ObjectType('Workspace', { simpleResolvers: true })
export class WorkspaceObject {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  name!: string;
}
