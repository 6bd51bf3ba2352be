import { Arg, Ctx, FieldResolver, ID, Mutation, Resolver, Root } from 'type-graphql';
import type { AccessLinks } from '../../domain/accounts/access-links.ts';
import type { Role } from '../../domain/entities/member.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import type { Promised } from '../context/promised.ts';
import { CreatedInvitation, InvitationObject, PasswordReset } from '../types/access-link.ts';
import { RoleEnum } from '../types/enums.ts';
import { CreatedToken } from '../types/token.ts';
import { WorkspaceObject } from '../types/workspace.ts';

const PASSWORD = '8 to 1,024 characters.';

/** Links by which people join, or choose a new password. */
@Resolver(() => WorkspaceObject)
export class AccessLinkResolver {
  readonly #links: AccessLinks;
  readonly #baseUrl: () => string;

  /** `baseUrl`: BASE_URL without a final slash. */
  constructor(links: AccessLinks, baseUrl: () => string) {
    this.#links = links;
    this.#baseUrl = baseUrl;
  }

  @FieldResolver(() => [InvitationObject], { description: 'Its open invitations, oldest first; for ADMINs.' })
  invitations(
    @Root() { id }: WorkspaceObject,
    @Ctx() { access, loaders }: GraphqlContext,
  ): Promised<InvitationObject[]> {
    return loaders.list(`invitations of ${id}`, () => this.#links.invitations(access, id));
  }

  @Mutation(() => CreatedInvitation, {
    description:
      'Invites an address into a workspace, for its ADMINs: a link that works once, for seven days. An earlier ' +
      'invitation of the address ends.',
  })
  async createInvitation(
    @Ctx() { access }: GraphqlContext,
    @Arg('workspaceId', () => ID, { description: 'The workspace.' }) workspaceId: string,
    @Arg('email', () => String, { description: 'Who is invited; an address up to 254 characters.' }) email: string,
    @Arg('role', () => RoleEnum, { description: 'What that person may do there.' }) role: Role,
  ): Promise<CreatedInvitation> {
    const { link, secret } = await this.#links.invite(access, workspaceId, email, role);
    // Behind the #: no server or proxy logs it.
    return { invitation: link, url: `${this.#baseUrl()}/console/join#${secret}` };
  }

  @Mutation(() => WorkspaceObject, {
    description: 'Ends the open invitation of an address at once, if there is one; for ADMINs of the workspace.',
  })
  revokeInvitation(
    @Ctx() { access }: GraphqlContext,
    @Arg('workspaceId', () => ID, { description: 'The workspace.' }) workspaceId: string,
    @Arg('email', () => String, { description: 'Who was invited.' }) email: string,
  ): Promise<WorkspaceObject> {
    return this.#links.revoke(access, workspaceId, email);
  }

  @Mutation(() => CreatedToken, {
    complexity: 2500,
    description:
      'Joins the workspace of an invitation and signs in. Needs no token. A new user chooses a password, one that exists ' +
      'gives the present one.',
  })
  acceptInvitation(
    @Ctx() { address }: GraphqlContext,
    @Arg('secret', () => String, { description: 'What the link has behind the #.' }) secret: string,
    @Arg('password', () => String, { description: PASSWORD }) password: string,
    @Arg('name', () => String, { nullable: true, description: 'The name that people read; for a new user.' })
    name?: string | null,
  ): Promise<CreatedToken> {
    return this.#links.accept(secret, { password, name: name ?? null }, address);
  }

  @Mutation(() => PasswordReset, {
    description:
      'A link by which a user chooses a new password, once and within a day: for operators, and for ADMINs of all ' +
      'workspaces of a user who is no operator. Earlier ones end.',
  })
  async createPasswordReset(
    @Ctx() { access }: GraphqlContext,
    @Arg('userId', () => ID, { description: 'The user.' }) userId: string,
  ): Promise<PasswordReset> {
    const { link, secret } = await this.#links.createReset(access, userId);
    return { url: `${this.#baseUrl()}/console/reset#${secret}`, expiresAt: link.expiresAt };
  }

  @Mutation(() => CreatedToken, {
    complexity: 2500,
    description: 'Sets a new password by a link and signs in; every other sign-in of the user ends. Needs no token.',
  })
  resetPassword(
    @Ctx() { address }: GraphqlContext,
    @Arg('secret', () => String, { description: 'What the link has behind the #.' }) secret: string,
    @Arg('password', () => String, { description: PASSWORD }) password: string,
  ): Promise<CreatedToken> {
    return this.#links.reset(secret, password, address);
  }
}
