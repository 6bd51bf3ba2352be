import { useState } from 'preact/hooks';
import { wordsOf } from '../../api/api-error.ts';
import { request } from '../../api/request.ts';
import type { Role } from '../../api/schema-types.ts';
import { useAction } from '../../api/use-action.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { FormEnd } from '../../parts/form-end.tsx';
import { onSubmit, textsOf } from '../../parts/form-texts.ts';
import { toast } from '../../parts/toasts.tsx';
import { AddUser, FindUser, InviteMember, PutMember } from './access.graphql.ts';
import type { PersonLink } from './links.tsx';
import { ROLE_WORDS, ROLES } from './scope-words.ts';
import { t } from '../../texts/texts.ts';

const MAX_AT_ONCE = 50;

interface NewMembersProps {
  workspaceId: string;
  isOperator: boolean;
  /** Called after each change, also when a later one fails. */
  onChanged: () => void;
  onClose: () => void;
  /** Gets the links of those who are new to the server. */
  onDone: (links: readonly PersonLink[]) => void;
}

/** Makes members of one or more addresses: those who are new to the server get a link to join by. */
export function NewMembers({ workspaceId, isOperator, onChanged, onClose, onDone }: NewMembersProps) {
  const [typed, setTyped] = useState('');
  const [links, setLinks] = useState<readonly PersonLink[]>([]);
  const emails = addressesIn(typed);
  const adding = useAction(async (form: HTMLFormElement) => {
    const text = textsOf(form);
    const [role, password] = [text('role') as Role, text('password')];
    if (emails.length > MAX_AT_ONCE) throw new Error(t('At most {MAX_AT_ONCE} addresses at once.', { MAX_AT_ONCE }));
    const made = [...links];
    const failed: string[] = [];
    const left: string[] = [];
    for (const email of emails) {
      try {
        const url = await addMember(workspaceId, email, role, password);
        if (url === null) toast(t('{email} is a member now.', { email }));
        else made.push({ email, url, what: 'join' });
      } catch (error) {
        failed.push(emails.length === 1 ? wordsOf(error) : `${email}: ${wordsOf(error)}`);
        left.push(email);
      }
    }
    setLinks(made);
    onChanged();
    if (failed.length === 0) return onDone(made);
    // Leave in the form what is still to be done.
    setTyped(left.join('\n'));
    throw new Error(failed.join('\n'));
  });
  return (
    // A link is shown this once: leaving the form must not lose those made before a mistake.
    <Dialog title="New members" onClose={() => (links.length > 0 ? onDone(links) : onClose())}>
      <form class="stack" onSubmit={onSubmit(adding.run)}>
        <label>
          Email addresses
          <textarea
            name="emails"
            rows={2}
            required
            autofocus
            spellcheck={false}
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
          <small>One or more, on lines of their own or with commas between them.</small>
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
        {isOperator && emails.length < 2 && (
          <label>
            Password
            <input name="password" type="password" minLength={8} autocomplete="new-password" />
            <small>Only for somebody who is new to this server; left empty, you get a link to give to them.</small>
          </label>
        )}
        <FormEnd action={adding} onCancel={() => (links.length > 0 ? onDone(links) : onClose())}>
          {emails.length > 1 ? `Add ${emails.length}` : 'Add'}
        </FormEnd>
      </form>
    </Dialog>
  );
}

/** The addresses of a text, each once. */
function addressesIn(text: string): string[] {
  return [...new Set(text.split(/[\s,;]+/).filter((part) => part !== ''))];
}

/** The link of an invitation; null: a user of this server, who is a member now. */
async function addMember(workspaceId: string, email: string, role: Role, password: string): Promise<string | null> {
  const { user } = await request(FindUser, { email });
  if (user === null && password === '') {
    const { createInvitation } = await request(InviteMember, { workspaceId, email, role });
    return createInvitation.url;
  }
  const userId = user?.id ?? (await request(AddUser, { input: { email, password } })).createUser.id;
  await request(PutMember, { workspaceId, userId, role });
  return null;
}
