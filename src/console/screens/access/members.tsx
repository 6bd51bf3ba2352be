import { useState } from 'preact/hooks';
import { request } from '../../api/request.ts';
import type { DataOf } from '../../api/operation.ts';
import type { Role } from '../../api/schema-types.ts';
import { useQuery } from '../../api/use-query.ts';
import { may } from '../../session/session.ts';
import { useAction } from '../../api/use-action.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { FormEnd } from '../../parts/form-end.tsx';
import { onSubmit, textsOf } from '../../parts/form-texts.ts';
import { Icon } from '../../parts/icon.tsx';
import { Note } from '../../parts/note.tsx';
import { pickWithKeys } from '../../parts/pick-with-keys.ts';
import { toast } from '../../parts/toasts.tsx';
import { CopyText } from '../../parts/copy-text.tsx';
import { dateTimeText } from '../../parts/time-text.ts';
import {
  AddUser,
  FindUser,
  InviteMember,
  MakePasswordLink,
  PutMember,
  TakeBackInvitation,
  TakeMember,
  WorkspaceInvitations,
  type WorkspaceMembers,
} from './access.graphql.ts';
import { ROLE_WORDS, ROLES } from './scope-words.ts';

interface MembersProps {
  workspaceId: string;
  name: string;
  members: DataOf<typeof WorkspaceMembers>['workspace']['members'];
  error: string | null;
  /** Fetches the members again; resolves when answered. */
  refetch: () => Promise<void>;
  /** True when new users may be created. */
  isOperator: boolean;
}

/** The members of a workspace and their roles. */
export function Members({ workspaceId, name, members, error, refetch, isOperator }: MembersProps) {
  const [isAdding, setAdding] = useState(false);
  const [link, setLink] = useState<Link | null>(null);
  // For ADMINs alone.
  const invited = useQuery(WorkspaceInvitations, may('ADMIN') ? { id: workspaceId } : null);
  const invitations = invited.data?.workspace.invitations ?? [];
  const changing = useAction(async (work: () => Promise<unknown>, said: string) => {
    try {
      await work();
      toast(said);
    } finally {
      // Fetch again, so that a rejected role does not stay in the list.
      await Promise.all([refetch(), invited.refetch()]);
    }
  });
  return (
    <section class="card" aria-label={`Members of ${name}`}>
      <header class="card-head">
        <h2 class="grow">Members of {name}</h2>
        <button type="button" onClick={() => setAdding(true)}>
          <Icon name="plus" /> Member
        </button>
      </header>
      {error !== null && <Note kind="error">{error}</Note>}
      {changing.error !== null && <Note kind="error">{changing.error}</Note>}
      <ul class="members">
        {members.map(({ role, user }) => (
          <li key={user.id}>
            <div class="grow">
              <strong>{user.name ?? user.email}</strong>
              {user.name !== null && <small> {user.email}</small>}
            </div>
            <select
              aria-label={`Role of ${user.email}`}
              onKeyDown={pickWithKeys}
              value={role}
              disabled={changing.busy}
              onChange={(event) => {
                const wanted = event.currentTarget.value as Role;
                void changing.run(
                  () => request(PutMember, { workspaceId, userId: user.id, role: wanted }),
                  `${user.email} is ${wanted} now.`,
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
              onClick={() =>
                void changing.run(async () => {
                  const { createPasswordReset } = await request(MakePasswordLink, { userId: user.id });
                  setLink({ email: user.email, url: createPasswordReset.url, what: 'choose a new password' });
                }, 'The link works once, within a day.')
              }
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
                  `${user.email} is no member any more.`,
                )
              }
            >
              Remove
            </button>
          </li>
        ))}
        {invitations.map(({ email, role, expiresAt }) => (
          <li key={email}>
            <div class="grow">
              {email}{' '}
              <small>
                is invited as {role} until {dateTimeText(new Date(expiresAt))}
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
                  `${email} is not invited any more.`,
                )
              }
            >
              Take back
            </button>
          </li>
        ))}
      </ul>
      {link !== null && <LinkDialog link={link} onClose={() => setLink(null)} />}
      {isAdding && (
        <NewMember
          workspaceId={workspaceId}
          isOperator={isOperator}
          onClose={() => setAdding(false)}
          onDone={(made) => {
            setAdding(false);
            setLink(made);
            void refetch();
            void invited.refetch();
          }}
        />
      )}
    </section>
  );
}

/** A link for one person. */
interface Link {
  email: string;
  url: string;
  /** Purpose of the link, as in a sentence. */
  what: string;
}

function LinkDialog({ link, onClose }: { link: Link; onClose: () => void }) {
  return (
    <Dialog title={`A link for ${link.email}`} onClose={onClose}>
      <p>
        With it {link.email} can {link.what}, once. It is shown only now: give it to nobody else.
      </p>
      <CopyText label="link" text={link.url} />
      <div class="actions">
        <button type="button" class="primary" onClick={onClose}>
          I have it
        </button>
      </div>
    </Dialog>
  );
}

interface NewMemberProps {
  workspaceId: string;
  isOperator: boolean;
  onClose: () => void;
  /** Gets the link of an invitation; null: the user is a member now. */
  onDone: (link: Link | null) => void;
}

function NewMember({ workspaceId, isOperator, onClose, onDone }: NewMemberProps) {
  const adding = useAction(async (form: HTMLFormElement) => {
    const text = textsOf(form);
    const [email, password] = [text('email').trim(), text('password')];
    const { user } = await request(FindUser, { email });
    const role = text('role') as Role;
    if (user === null && password === '') {
      const { createInvitation } = await request(InviteMember, { workspaceId, email, role });
      return onDone({ email, url: createInvitation.url, what: 'join' });
    }
    const userId = user?.id ?? (await request(AddUser, { input: { email, password } })).createUser.id;
    await request(PutMember, { workspaceId, userId, role });
    toast(`${email} is a member now.`);
    onDone(null);
  });
  return (
    <Dialog title="New member" onClose={onClose}>
      <form class="stack" onSubmit={onSubmit(adding.run)}>
        <label>
          Email address
          <input name="email" type="email" required autofocus />
        </label>
        <label>
          Role
          <select name="role">
            {ROLES.map((role) => (
              <option key={role} value={role}>
                {role}: {ROLE_WORDS[role]}
              </option>
            ))}
          </select>
        </label>
        {isOperator && (
          <label>
            Password
            <input name="password" type="password" minLength={8} autocomplete="new-password" />
            <small>Only for somebody who is new to this server; left empty, you get a link to give to them.</small>
          </label>
        )}
        <FormEnd action={adding} onCancel={onClose}>
          Add
        </FormEnd>
      </form>
    </Dialog>
  );
}
