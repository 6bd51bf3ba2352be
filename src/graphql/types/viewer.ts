import 'reflect-metadata';
import { Field, ObjectType } from 'type-graphql';
import { TokenObject } from './token.ts';
import { UserObject } from './user.ts';
import { WorkspaceObject } from './workspace.ts';

/** Parent: plain, all loaded. */
@ObjectType('Viewer', { simpleResolvers: true })
export class Viewer {
  @Field(() => UserObject, { nullable: true })
  user!: UserObject | null;

  @Field(() => TokenObject)
  token!: TokenObject;

  @Field(() => [WorkspaceObject])
  workspaces!: WorkspaceObject[];
}
