import { useState } from 'preact/hooks';
import { useAction } from '../../api/use-action.ts';
import { useTitle } from '../../navigation/use-title.ts';
import { textsOf } from '../../parts/form-texts.ts';
import { Note } from '../../parts/note.tsx';
import { signIn } from '../../session/session.ts';
import { keepWay, lastWay, type Way } from '../../session/last-way.ts';
import './sign-in.css';
import { t } from '../../texts/texts.ts';

/** The sign-in form, at any address: afterwards the page of that address is shown. Begins with the way of last time. */
export function SignInScreen() {
  useTitle(t('Sign in'));
  const [way, setWay] = useState<Way>(lastWay);
  const going = useAction(async (form: HTMLFormElement) => {
    const text = textsOf(form);
    await signIn(way === 'token' ? { token: text('token') } : { email: text('email'), password: text('password') });
    keepWay(way);
  });
  const onSubmit = (event: SubmitEvent): void => {
    event.preventDefault();
    void going.run(event.currentTarget as HTMLFormElement);
  };
  const choose = (chosen: Way): void => {
    going.clear();
    setWay(chosen);
  };
  return (
    <main class="alone">
      <form class="card sign-in" onSubmit={onSubmit}>
        <h1>
          <img src="/console/icon.svg" alt="" width="36" height="36" /> Inlet
        </h1>
        <div class="tabs" role="group" aria-label="Way to sign in">
          <button type="button" aria-pressed={way === 'token'} onClick={() => choose('token')}>
            Token
          </button>
          <button type="button" aria-pressed={way === 'password'} onClick={() => choose('password')}>
            Password
          </button>
        </div>
        {way === 'password' ? (
          <>
            <label>
              Email address
              <input name="email" type="email" autocomplete="username" required autofocus />
            </label>
            <label>
              Password
              <input name="password" type="password" autocomplete="current-password" required />
            </label>
          </>
        ) : (
          <label>
            Token
            <input name="token" type="password" autocomplete="off" spellcheck={false} required autofocus />
            <small>Any token of yours. It stays in a cookie that no script can read.</small>
          </label>
        )}
        {going.error !== null && <Note kind="error">{going.error}</Note>}
        <button type="submit" class="primary" disabled={going.busy}>
          {going.busy ? 'Signing in…' : 'Sign in'}
        </button>
        {way === 'token' ? (
          <p class="hint">
            First time here? The server printed a token at its first start, in its log. Lost it? Beside the server{' '}
            <code>inlet token</code> prints another.
          </p>
        ) : (
          <p class="hint">No password yet? Sign in with a token, or ask an administrator for a password link.</p>
        )}
      </form>
    </main>
  );
}
