import { hashSecret } from '../accounts/authenticator.ts';
import { newSecret } from '../accounts/token-service.ts';
import { MemberSchema, type Role } from '../entities/member.ts';
import { TokenSchema } from '../entities/token.ts';
import { uuidV7 } from '../text/uuid.ts';
import { emailOf, type MemberDraft } from './member-plan.ts';
import { nameOfDevice, nameOfReference } from './references.ts';
import { type TokenDraft, tokenOf } from './token-plan.ts';
import type { Writing } from './write-products.ts';
import { must } from '../../must.ts';

/**
 * Writes tokens; returns the ids of those that changed or went. A new one has a secret that nobody knows: `renewToken`
 * gives it another.
 */
export async function writeTokens(
  { em, workspaceId, now }: Writing,
  tokens: readonly TokenDraft[],
  ids: { products: ReadonlyMap<string, string>; devices: ReadonlyMap<string, string> },
): Promise<string[]> {
  const changed: string[] = [];
  for (const { state, target, pending } of tokens) {
    if (pending.length === 0) continue;
    if (state !== null) changed.push(state.id);
    if (target === undefined) {
      await em.nativeDelete(TokenSchema, { id: must(state).id });
      continue;
    }
    const { name, scopes, products, devices, fields = null, expiresAt } = tokenOf(target);
    const row = {
      scopes,
      productIds: products?.map((reference) => must(ids.products.get(nameOfReference(reference)))) ?? null,
      deviceIds: devices?.map((reference) => must(ids.devices.get(nameOfDevice(reference)))) ?? null,
      fields,
      expiresAt: expiresAt === undefined ? null : Date.parse(expiresAt),
    };
    if (state === null)
      em.create(TokenSchema, {
        ...row,
        id: uuidV7(),
        name,
        kind: 'INDIVIDUAL',
        workspace: workspaceId,
        hash: hashSecret(newSecret()),
        createdAt: now,
        lastUsedAt: null,
        user: null,
        signedIn: false,
      });
    else Object.assign(await em.findOneOrFail(TokenSchema, { id: state.id }), row);
  }
  await em.flush();
  return changed;
}

/** Writes members; returns the ids of the users whose role changed. */
export async function writeMembers(
  { em, workspaceId: workspace }: Writing,
  members: readonly MemberDraft[],
  userIds: ReadonlyMap<string, string>,
): Promise<string[]> {
  const changed: string[] = [];
  for (const member of members.filter(({ pending }) => pending.length > 0)) {
    const { state, target } = member;
    const user = state?.userId ?? must(userIds.get(emailOf(member)));
    changed.push(user);
    if (target === undefined) await em.nativeDelete(MemberSchema, { workspace, user });
    else if (state === null) em.create(MemberSchema, { workspace, user, role: target['role'] as Role });
    else await em.nativeUpdate(MemberSchema, { workspace, user }, { role: target['role'] as Role });
  }
  await em.flush();
  return changed;
}
