import { render } from 'preact';
import './styles/base.css';
import './styles/parts.css';
import { App } from './app.tsx';
import { followLinks, here } from './navigation/place.ts';
import { routeOf } from './navigation/routes.ts';
import { ROUTES } from './routes.ts';
import { applyTheme } from './layout/theme.ts';
import { lastWorkspaceId, loadSession } from './session/session.ts';

applyTheme();
void loadSession();
const workspace = lastWorkspaceId();
const { path, query } = here();
if (workspace !== null) routeOf(ROUTES, path)?.route.ahead?.(workspace, query);
followLinks();
render(<App />, document.getElementById('app')!);
