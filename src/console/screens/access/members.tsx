import { useState } from 'preact/hooks';
import { request } from '../../api/request.ts';
import type { DataOf } from '../../api/operation.ts';
import type { Role } from '../../api/schema-types.ts';
import { useAction } from '../../api/use-action.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { FormEnd } from '../../parts/form-end.tsx';
import { onSubmit, textsOf } from '../../parts/form-texts.ts';
import { Icon } from '../../parts/icon.tsx';
import { Note } from '../../parts/note.tsx';
import { pickWithKeys } from '../../parts/pick-with-keys.ts';
import { toast } from '../../parts/toasts.tsx';
import { AddUser, FindUser, PutMember, TakeMember, type WorkspaceMembers } from './access.graphql.ts';
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
  const changing = useAction(async (work: () => Promise<unknown>, said: string) => {
    try {
      await work();
      toast(said);
    } finally {
      // Fetch again, so that a rejected role does not stay in the list.
      await refetch();
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
      </ul>
      {isAdding && (
        <NewMember
          workspaceId={workspaceId}
          isOperator={isOperator}
          onClose={() => setAdding(false)}
          onDone={() => {
            setAdding(false);
            void refetch();
          }}
        />
      )}
    </section>
  );
}

interface NewMemberProps {
  workspaceId: string;
  isOperator: boolean;
  onClose: () => void;
  onDone: () => void;
}

function NewMember({ workspaceId, isOperator, onClose, onDone }: NewMemberProps) {
  const adding = useAction(async (form: HTMLFormElement) => {
    const text = textsOf(form);
    const [email, password] = [text('email').trim(), text('password')];
    const { user } = await request(FindUser, { email });
    if (user === null && !isOperator)
      throw new Error(`Nobody has the address ${email}. An operator of this server can create the user.`);
    const userId =
      user?.id ??
      (await request(AddUser, { input: { email, ...(password === '' ? {} : { password }) } })).createUser.id;
    await request(PutMember, { workspaceId, userId, role: text('role') as Role });
    toast(`${email} is a member now.`);
    onDone();
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
            <small>Only for somebody who is new to this server; left empty they cannot sign in.</small>
          </label>
        )}
        <FormEnd action={adding} onCancel={onClose}>
          Add
        </FormEnd>
      </form>
    </Dialog>
  );
}
