import { GraphiQL } from 'graphiql';
import 'graphiql/style.css';
import { createElement } from 'react';
import { createRoot } from 'react-dom/client';
import './page.css';
import { fetcher } from './fetcher.ts';

const FIRST = `# Queries and mutations as who is signed in; subscriptions are live.
# Ctrl Space completes, Ctrl Enter runs. What the console shows, it asks for here.
{
  devices(first: 5) {
    totalCount
    edges { node { name online latest { field { identifier unit } value timestamp } } }
  }
}
`;

// Check the session with a query: the schema itself is public.
await fetcher({ query: '{ viewer { token { id } } }' });
const home = createElement('a', { href: '/console/devices', className: 'home' }, '← Inlet');
const logo = createElement(GraphiQL.Logo, null, home);
createRoot(document.getElementById('app')!).render(
  createElement(GraphiQL, { fetcher, defaultQuery: FIRST, defaultEditorToolsVisibility: false }, logo),
);
