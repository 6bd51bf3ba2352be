import { render } from 'preact';
import './share.css';
import { presentToken } from '../api/presented-token.ts';
import { SharePage } from './share-page.tsx';

// The token stays behind `#`, which browsers send nowhere; another link in the same window begins anew.
const token = location.hash.slice(1);
presentToken(token);
addEventListener('hashchange', () => location.reload());
render(<SharePage isComplete={/^[\w.~-]+$/.test(token)} />, document.getElementById('app')!);
