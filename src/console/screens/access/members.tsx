import { useState } from 'preact/hooks';
import { request } from '../../api/request.ts';
import type { DataOf } from '../../api/operation.ts';
import type { Role } from '../../api/schema-types.ts';
import { useAction } from '../../api/use-action.ts';
import { Icon } from '../../parts/icon.tsx';
import { Note } from '../../parts/note.tsx';
import { pickWithKeys } from '../../parts/pick-with-keys.ts';
import { TimeLeft } from '../../parts/time-left.tsx';
import { toast } from '../../parts/toasts.tsx';
import { type Access, MakePasswordLink, PutMember, TakeBackInvitation, TakeMember } from './access.graphql.ts';
import { Links, type PersonLink } from './links.tsx';
import { NewMembers } from './new-members.tsx';
import { ROLE_WORDS, ROLES } from './scope-words.ts';
import { t } from '../../texts/texts.ts';

type Place = NonNullable<DataOf<typeof Access>['workspace']>;
type Member = NonNullable<Place['members']>[number];

interface MembersProps {
  workspaceId: string;
  name: string;
  members: readonly Member[];
  invitations: NonNullable<Place['invitations']>;
  /** Fetches the members again; resolves when answered. */
  refetch: () => Promise<void>;
  /** True when members may be changed. */
  isAdmin: boolean;
  /** True when new users may be created. */
  isOperator: boolean;
}

/** The members of a workspace and their roles; its ADMINs change them. */
export function Members({ workspaceId, name, members, invitations, refetch, isAdmin, isOperator }: MembersProps) {
  const [isAdding, setAdding] = useState(false);
  const [links, setLinks] = useState<readonly PersonLink[]>([]);
  const changing = useAction(async (work: () => Promise<unknown>, said: string) => {
    try {
      await work();
      toast(said);
    } finally {
      // Fetch again, so that a rejected role does not stay in the list.
      await refetch();
    }
  });
  const sendPassword = async ({ id, email }: Member['user']): Promise<void> => {
    const { createPasswordReset } = await request(MakePasswordLink, { userId: id });
    setLinks([{ email, url: createPasswordReset.url, what: t('choose a new password') }]);
  };
  return (
    <section class="card" aria-label={`Members of ${name}`}>
      <header class="card-head">
        <h2 class="grow">Members of {name}</h2>
        {isAdmin && (
          <button type="button" onClick={() => setAdding(true)}>
            <Icon name="plus" /> Member
          </button>
        )}
      </header>
      {changing.error !== null && <Note kind="error">{changing.error}</Note>}
      <ul class="members">
        {members.map(({ role, user }) => (
          <li key={user.id}>
            <div class="grow">
              <strong>{user.name ?? user.email}</strong>
              {user.name !== null && <small> {user.email}</small>}
            </div>
            {isAdmin ? (
              <>
                <select
                  aria-label={`Role of ${user.email}`}
                  onKeyDown={pickWithKeys}
                  value={role}
                  disabled={changing.busy}
                  onChange={(event) => {
                    const wanted = event.currentTarget.value as Role;
                    void changing.run(
                      () => request(PutMember, { workspaceId, userId: user.id, role: wanted }),
                      t('{email} is {wanted} now.', { email: user.email, wanted }),
                    );
                  }}
                >
                  {ROLES.map((one) => (
                    <option key={one} value={one}>
                      {one}: {ROLE_WORDS[one]}
                    </option>
                  ))}
                </select>
                <button
                  type="button"
                  class="quiet"
                  aria-label={`Password link for ${user.email}`}
                  disabled={changing.busy}
                  onClick={() => void changing.run(() => sendPassword(user), t('The link works once, within a day.'))}
                >
                  Password link
                </button>
                <button
                  type="button"
                  class="quiet danger"
                  aria-label={`Remove ${user.email}`}
                  disabled={changing.busy}
                  onClick={() =>
                    void changing.run(
                      () => request(TakeMember, { workspaceId, userId: user.id }),
                      t('{email} is no member any more.', { email: user.email }),
                    )
                  }
                >
                  Remove
                </button>
              </>
            ) : (
              <span>
                {role}: {ROLE_WORDS[role]}
              </span>
            )}
          </li>
        ))}
        {invitations.map(({ email, role, expiresAt }) => (
          <li key={email}>
            <div class="grow">
              {email}{' '}
              <small>
                is invited as {role}; the invitation ends <TimeLeft at={expiresAt} isCalm />
              </small>
            </div>
            <button
              type="button"
              class="quiet danger"
              aria-label={`Take back the invitation of ${email}`}
              disabled={changing.busy}
              onClick={() =>
                void changing.run(
                  () => request(TakeBackInvitation, { workspaceId, email }),
                  t('{email} is not invited any more.', { email }),
                )
              }
            >
              Take back
            </button>
          </li>
        ))}
      </ul>
      {links.length > 0 && <Links links={links} onClose={() => setLinks([])} />}
      {isAdding && (
        <NewMembers
          workspaceId={workspaceId}
          isOperator={isOperator}
          onChanged={() => void refetch()}
          onClose={() => setAdding(false)}
          onDone={(made) => {
            setAdding(false);
            setLinks(made);
          }}
        />
      )}
    </section>
  );
}
