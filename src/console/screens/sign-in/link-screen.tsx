import { useState } from 'preact/hooks';
import { request } from '../../api/request.ts';
import { useAction } from '../../api/use-action.ts';
import { href, navigate } from '../../navigation/place.ts';
import { useTitle } from '../../navigation/use-title.ts';
import { onSubmit, textsOf } from '../../parts/form-texts.ts';
import { Note } from '../../parts/note.tsx';
import { signIn } from '../../session/session.ts';
import { keepWay } from '../../session/last-way.ts';
import { JoinByLink, ResetByLink } from './sign-in.graphql.ts';
import './sign-in.css';
import { t } from '../../texts/texts.ts';

const WORDS = {
  join: {
    title: t('Join'),
    button: t('Join'),
    hint: t('You are invited to this server. Choose a password to sign in with.'),
  },
  reset: { title: t('New password'), button: t('Set the password'), hint: t('Choose a new password to sign in with.') },
};

/** The page of a link that works once: to join a workspace, or to choose a new password. Signs in and goes to the start. */
export function LinkScreen({ kind }: { kind: 'join' | 'reset' }) {
  const { title, button, hint } = WORDS[kind];
  useTitle(title);
  // Behind the #, so that no server or proxy logs it.
  const [secret] = useState(() => location.hash.slice(1));
  const going = useAction(async (form: HTMLFormElement) => {
    const text = textsOf(form);
    const password = text('password');
    const given = { secret, password };
    const token =
      kind === 'reset'
        ? (await request(ResetByLink, given)).resetPassword.secret
        : (await request(JoinByLink, { ...given, name: text('name').trim() || null })).acceptInvitation.secret;
    await signIn({ token });
    keepWay('password');
    navigate(href('/'), { replace: true });
  });
  return (
    <main class="alone">
      <form class="card sign-in" onSubmit={onSubmit(going.run)}>
        <h1>
          <img src="/console/icon.svg" alt="" width="36" height="36" /> {title}
        </h1>
        <p>{hint}</p>
        {kind === 'join' && (
          <label>
            Name
            <input name="name" maxLength={200} autocomplete="name" />
          </label>
        )}
        <label>
          Password
          <input name="password" type="password" minLength={8} required autocomplete="new-password" autofocus />
          {kind === 'join' && <small>If you have been on this server before, your present one.</small>}
        </label>
        {going.error !== null && <Note kind="error">{going.error}</Note>}
        <button type="submit" class="primary" disabled={going.busy || secret === ''}>
          {button}
        </button>
        {secret === '' && <Note kind="error">The link is not whole: copy all of it, also what is behind the #.</Note>}
      </form>
    </main>
  );
}
