import { request } from '../../api/request.ts';
import { useAction } from '../../api/use-action.ts';
import { onSubmit, textsOf } from '../../parts/form-texts.ts';
import { Note } from '../../parts/note.tsx';
import { toast } from '../../parts/toasts.tsx';
import { keepWay } from '../../session/last-way.ts';
import { ChangePassword } from './access.graphql.ts';
import { t } from '../../texts/texts.ts';

/** Changes the signed-in user's password, or sets the first one. */
export function PasswordForm() {
  const changing = useAction(async (form: HTMLFormElement) => {
    const text = textsOf(form);
    const current = text('current');
    await request(ChangePassword, {
      newPassword: text('new'),
      ...(current === '' ? {} : { currentPassword: current }),
    });
    form.reset();
    keepWay('password');
    toast(t('Password changed. Every other sign-in of yours has ended.'));
  });
  return (
    <details class="card padded">
      <summary>Change your password</summary>
      <form class="stack" onSubmit={onSubmit(changing.run)}>
        <label>
          Present password
          <input name="current" type="password" autocomplete="current-password" />
          <small>Left empty, if there is none yet.</small>
        </label>
        <label>
          New password
          <input name="new" type="password" required minLength={8} autocomplete="new-password" />
        </label>
        {changing.error !== null && <Note kind="error">{changing.error}</Note>}
        <div class="row">
          <button type="submit" disabled={changing.busy}>
            Change password
          </button>
        </div>
      </form>
    </details>
  );
}
