import 'reflect-metadata';
import { Field, ObjectType } from 'type-graphql';
import { TokenObject } from './token.ts';
import { UserObject } from './user.ts';
import { WorkspaceObject } from './workspace.ts';

/** Parent: plain, all loaded. */
@ObjectType('Viewer', { simpleResolvers: true, description: 'Who asks.' })
export class Viewer {
  @Field(() => UserObject, {
    nullable: true,
    description: 'The user of a PERSONAL token; null: the token is INDIVIDUAL.',
  })
  user!: UserObject | null;

  @Field(() => TokenObject, { description: 'The token that the request was sent with.' })
  token!: TokenObject;

  @Field(() => [WorkspaceObject], { description: 'The workspaces that the token sees, oldest first.' })
  workspaces!: WorkspaceObject[];
}
