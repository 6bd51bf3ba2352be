import type { ComponentType } from 'preact';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { connection, liveState } from './api/connection.ts';
import { useStore } from './api/store.ts';
import { Shell } from './layout/shell.tsx';
import { usePlace } from './navigation/place.ts';
import { routeOf, type ScreenProps, type Section } from './navigation/routes.ts';
import { Note } from './parts/note.tsx';
import { ROUTES } from './routes.ts';
import { LinkScreen } from './screens/sign-in/link-screen.tsx';
import { SignInScreen } from './screens/sign-in/sign-in-screen.tsx';
import { session } from './session/session.ts';
import { reader } from './time/reader.ts';

interface Shown {
  key: string;
  Screen: ComponentType<ScreenProps>;
  params: Record<string, string>;
  section: Section | null;
}

/** The whole page: that of a link, the sign-in page without a session, else the screen of the address. */
export function App() {
  const now = useStore(session);
  // Draw all times anew when the reader chooses another zone or clock.
  const { zone, clock } = useStore(reader);
  const { path } = usePlace();
  const shown = useScreen();
  useEffect(() => {
    if (now.state === 'in') connection();
  }, [now.state]);
  if (path === '/join' || path === '/reset')
    return <LinkScreen key={path} kind={path === '/join' ? 'join' : 'reset'} />;
  if (now.state === 'out') return <SignInScreen />;
  if (now.state === 'failed')
    return (
      <main class="alone">
        <Note kind="error">{now.message}</Note>
      </main>
    );
  if (now.state === 'unknown' || shown === null) return null;
  const { key, Screen, params, section } = shown;
  return (
    <Shell section={section} viewer={now.viewer}>
      <Screen key={`${key} ${zone} ${clock}`} params={params} />
    </Shell>
  );
}

/** The screen of the address; the previous one stays until the next one's code is loaded. */
function useScreen(): Shown | null {
  const { path } = usePlace();
  const [shown, setShown] = useState<Shown | null>(null);
  // Start before painting, so that requests go out at once.
  useLayoutEffect(() => {
    let isWanted = true;
    const found = routeOf(ROUTES, path);
    const show = (Screen: ComponentType<ScreenProps>): void => {
      if (isWanted) setShown({ key: path, Screen, params: found?.params ?? {}, section: found?.route.section ?? null });
    };
    const load = (): void => {
      const code = found === null ? NowhereScreen : found.route.load();
      // After an update of the server the files have other names: ask to reload.
      if (code instanceof Promise) code.then(show, failed);
      else show(code);
    };
    let unfollow = (): void => {};
    const failed = (): void => {
      if (!isWanted) return;
      show(OutdatedScreen);
      // The server may only have been away.
      unfollow = liveState.follow((state) => {
        if (state !== 'live') return;
        unfollow();
        load();
      });
    };
    load();
    return () => {
      isWanted = false;
      unfollow();
    };
  }, [path]);
  return shown;
}

function NowhereScreen() {
  return (
    <main class="page">
      <Note>
        There is nothing at this address. <a href="/console/">To the start</a>
      </Note>
    </main>
  );
}

function OutdatedScreen() {
  return (
    <main class="page">
      <Note kind="error">
        This part of the console could not be loaded yet. It is tried again as soon as the server is back; should it
        have been updated, <a href="">load the page anew</a>.
      </Note>
    </main>
  );
}
