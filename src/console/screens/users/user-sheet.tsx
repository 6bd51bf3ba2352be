import { request } from '../../api/request.ts';
import { useAction } from '../../api/use-action.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { FormEnd } from '../../parts/form-end.tsx';
import { givenIn, onSubmit } from '../../parts/form-texts.ts';
import { toast } from '../../parts/toasts.tsx';
import { ChangeUser, MakeUser, RemoveUser } from './users.graphql.ts';
import { t } from '../../texts/texts.ts';

/** A user as the list shows them. */
export interface ShownUser {
  id: string;
  email: string;
  name: string | null;
  operator: boolean;
}

/** The purpose of the sheet. */
export type UserSheetKind = 'new' | 'change' | 'delete';

interface UserSheetProps {
  kind: UserSheetKind;
  /** null: a new one. */
  user: ShownUser | null;
  onClose: () => void;
  /** Gets a user who was made and needs a link to choose a password; null: none. */
  onDone: (made: ShownUser | null) => void;
}

const END = { new: t('Add'), change: t('Save'), delete: t('Delete') };

/** Makes, changes or deletes a user. */
export function UserSheet({ kind, user, onClose, onDone }: UserSheetProps) {
  const acting = useAction(async (form: HTMLFormElement) => {
    const given = givenIn(form);
    const operator = new FormData(form).has('operator');
    const [email, name] = [given('email') ?? '', given('name')];
    if (user === null) {
      const { createUser } = await request(MakeUser, { input: { email, name, operator } });
      return onDone({ id: createUser.id, email, name, operator });
    }
    if (kind === 'delete') {
      await request(RemoveUser, { id: user.id });
      toast(t('{email} is deleted.', { email: user.email }));
    } else {
      await request(ChangeUser, { id: user.id, input: { email, name, operator } });
      toast(t('{email} is changed.', { email }));
    }
    onDone(null);
  });
  const titles = {
    new: t('New user'),
    change: t('Change {email}', { email: user?.email }),
    delete: t('Delete {email}?', { email: user?.email }),
  };
  return (
    <Dialog title={titles[kind]} onClose={onClose}>
      <form class="stack" onSubmit={onSubmit(acting.run)}>
        {kind === 'delete' ? (
          <p>
            Personal tokens and memberships go with them, for good; what they made in workspaces stays. The last
            operator and the last ADMIN of a workspace cannot be deleted.
          </p>
        ) : (
          <>
            <label>
              Email address
              <input name="email" type="email" required autofocus defaultValue={user?.email ?? ''} />
            </label>
            <label>
              Name
              <input name="name" maxLength={200} defaultValue={user?.name ?? ''} />
            </label>
            <label class="check">
              <input type="checkbox" name="operator" defaultChecked={user?.operator ?? false} />
              Operator: runs this server, makes workspaces and users
            </label>
            {kind === 'new' && <p class="hint">You get a link by which they choose their password.</p>}
          </>
        )}
        <FormEnd action={acting} onCancel={onClose} danger={kind === 'delete'}>
          {END[kind]}
        </FormEnd>
      </form>
    </Dialog>
  );
}
