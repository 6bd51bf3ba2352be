import { conflict } from '../../errors.ts';
import type { Role } from '../entities/member.ts';

/** CONFLICT when the user is the last ADMIN among the members of a workspace. */
export function requireOtherAdmin(members: { user: { id: string }; role: Role }[], userId: string): void {
  const admins = members.filter((member) => member.role === 'ADMIN');
  if (admins.length === 1 && admins[0]?.user.id === userId)
    throw conflict('This is the last ADMIN of the workspace; make somebody else ADMIN first.');
}
