import { render } from 'preact';
import './styles/base.css';
import './styles/parts.css';
import { App } from './app.tsx';
import { followLinks } from './navigation/place.ts';
import { applyTheme } from './layout/theme.ts';
import { loadSession } from './session/session.ts';

applyTheme();
void loadSession();
followLinks();
render(<App />, document.getElementById('app')!);
