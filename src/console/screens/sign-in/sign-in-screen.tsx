import { useState } from 'preact/hooks';
import { useAction } from '../../api/use-action.ts';
import { useTitle } from '../../navigation/use-title.ts';
import { textsOf } from '../../parts/form-texts.ts';
import { Note } from '../../parts/note.tsx';
import { signIn } from '../../session/session.ts';
import './sign-in.css';

/** The sign-in form, at any address: afterwards the page of that address is shown. */
export function SignInScreen() {
  useTitle('Sign in');
  const [way, setWay] = useState<'token' | 'password'>('password');
  const going = useAction(signIn);
  const onSubmit = (event: SubmitEvent): void => {
    event.preventDefault();
    const text = textsOf(event.currentTarget as HTMLFormElement);
    void going.run(way === 'token' ? { token: text('token') } : { email: text('email'), password: text('password') });
  };
  const choose = (chosen: typeof way): void => {
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
          <button type="button" aria-pressed={way === 'password'} onClick={() => choose('password')}>
            Password
          </button>
          <button type="button" aria-pressed={way === 'token'} onClick={() => choose('token')}>
            Token
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
            <small>
              The one that the first start printed, or any other. It stays in a cookie that no script can read.
            </small>
          </label>
        )}
        {going.error !== null && <Note kind="error">{going.error}</Note>}
        <button type="submit" class="primary" disabled={going.busy}>
          {going.busy ? 'Signing in…' : 'Sign in'}
        </button>
        {way === 'password' && (
          <p class="hint">First time here? Sign in with the token that the server printed at its first start.</p>
        )}
      </form>
    </main>
  );
}
