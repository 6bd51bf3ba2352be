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

const HISTORY = `# A week of each device's first fields by the hour: lists of times and values, as charts want them.
query Week {
  devices(first: 3) {
    edges {
      node {
        name
        history(from: "${dayText(-7)}", to: "${dayText(1)}", resolution: "1h") { field { identifier } timestamps values }
      }
    }
  }
}
`;

const LIVE = `# Run it, then send a value: it is pushed as soon as it is stored.
subscription Live {
  measurementsRecorded { cursor device { name } measurements { field { identifier } value timestamp } }
}
`;

const SETUP = `# How a product and a device are made, for those who may configure. It runs as it stands.
mutation Setup {
  createProduct(input: { name: "Room sensor", fields: [{ identifier: "temperature", type: FLOAT, unit: "°C" }] }) {
    id
    webhookUrl
  }
}
`;

/** A day so many days from now, in ISO 8601. */
function dayText(days: number): string {
  return `${new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)}T00:00:00Z`;
}

// Check the session with a query: the schema itself is public.
await fetcher({ query: '{ viewer { token { id } } }' });
const home = createElement('a', { href: '/console/devices', className: 'home' }, '← Inlet');
const logo = createElement(GraphiQL.Logo, null, home);
createRoot(document.getElementById('app')!).render(
  createElement(
    GraphiQL,
    {
      fetcher,
      defaultQuery: FIRST,
      defaultTabs: [FIRST, HISTORY, LIVE, SETUP].map((query) => ({ query })),
      defaultEditorToolsVisibility: false,
    },
    logo,
  ),
);
