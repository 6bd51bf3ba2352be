import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useStore } from '../api/store.ts';
import { useAction } from '../api/use-action.ts';
import { href } from '../navigation/place.ts';
import { Icon } from '../parts/icon.tsx';
import { Menu } from '../parts/menu.tsx';
import { signOut } from '../session/session.ts';
import { nextTheme, theme } from './theme.ts';

/** The part of the viewer that the menu shows. */
export interface AccountViewer {
  user: { email: string; name: string | null } | null;
  token: { name: string };
  workspaces: { id: string; name: string }[];
}

/** The menu with user and theme, and the sign-out. */
export function AccountMenu({ viewer, onKeys }: { viewer: AccountViewer; onKeys: () => void }) {
  const themeNow = useStore(theme);
  const leaving = useAction(signOut);
  const [isReading, setReading] = useState(false);
  const ReaderDialog = useReaderDialog(isReading);
  const who = viewer.user?.name ?? viewer.user?.email ?? viewer.token.name;
  return (
    <>
      <Menu label={`Account: ${who}`} button={<span class="avatar">{who.slice(0, 1).toUpperCase()}</span>}>
        <div class="menu-head">
          <strong>{who}</strong>
          <small>{viewer.user === null ? 'token of a workspace' : viewer.user.email}</small>
        </div>
        <div class="menu-part">
          <button type="button" data-stays onClick={() => theme.set(nextTheme(themeNow))}>
            <Icon name="theme" />
            Theme: {themeNow}
          </button>
          <button type="button" onClick={() => setReading(true)}>
            <Icon name="clock" />
            Language and times…
          </button>
          <a href={href('/graphql')} target="_self">
            <Icon name="code" />
            GraphQL
          </a>
          <button type="button" onClick={onKeys}>
            <Icon name="none" />
            Keys <kbd>?</kbd>
          </button>
          <button type="button" disabled={leaving.busy} onClick={() => void leaving.run()}>
            <Icon name="leave" />
            Sign out
          </button>
        </div>
      </Menu>
      {isReading && ReaderDialog !== null && <ReaderDialog onClose={() => setReading(false)} />}
    </>
  );
}

type LaterDialog = ComponentType<{ onClose: () => void }>;

/** The dialog of zone and clock; null until its code is loaded, which begins when it is wanted. */
function useReaderDialog(isWanted: boolean): LaterDialog | null {
  const [Shown, setShown] = useState<LaterDialog | null>(null);
  useEffect(() => {
    if (isWanted)
      void import('./reader-dialog.tsx').then(
        (code) => setShown(() => code.ReaderDialog),
        () => {},
      );
  }, [isWanted]);
  return Shown;
}
