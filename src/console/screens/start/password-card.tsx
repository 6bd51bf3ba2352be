import { request } from '../../api/request.ts';
import { useAction } from '../../api/use-action.ts';
import { textsOf } from '../../parts/form-texts.ts';
import { Note } from '../../parts/note.tsx';
import { toast } from '../../parts/toasts.tsx';
import { keepWay } from '../../session/last-way.ts';
import { SetPassword } from './start.graphql.ts';
import { t } from '../../texts/texts.ts';

/** Sets a password for users who signed in with the printed token. */
export function PasswordCard({ email }: { email: string }) {
  const setting = useAction(async (newPassword: string) => {
    await request(SetPassword, { newPassword });
    keepWay('password');
    toast(t('Password set. Next time you can sign in with it.'));
  });
  return (
    <details class="card padded">
      <summary>Set a password for the next time</summary>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          const form = event.currentTarget;
          void setting.run(textsOf(form)('password')).then((done) => done && form.reset());
        }}
      >
        <p class="hint">
          You are signed in as <strong>{email}</strong>.
        </p>
        <input type="hidden" name="email" autocomplete="username" value={email} />
        <label>
          New password
          <input name="password" type="password" minLength={8} autocomplete="new-password" required />
        </label>
        {setting.error !== null && <Note kind="error">{setting.error}</Note>}
        <div class="row">
          <button type="submit" disabled={setting.busy}>
            Set password
          </button>
        </div>
      </form>
    </details>
  );
}
