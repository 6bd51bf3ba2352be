#!/usr/bin/env bash
# @apollo/server 5.5.1 with graphql 16.15.0: a plugin may give a request its parsed document (`document` of the request
# context, in `requestDidStart`), and Apollo Server then neither parses nor validates; but only with `documentStore: null`.
# With the default store, what the store answers takes the document's place, also when it has none: the request's text is
# parsed and validated all the same, and runs.
#
# Seen on 2026-11-30 with Node 24:
#   default store: parsed 1, validated 1, runs { one }
#   documentStore null: parsed 0, validated 0, runs { two }
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --no-audit --no-fund --silent @apollo/server@5.5.1 graphql@16.15.0
cat >try.mjs <<'JS'
import { ApolloServer } from '@apollo/server';
import { parse, print } from 'graphql';

async function tried(options) {
  const seen = { parsed: 0, validated: 0, runs: '' };
  const server = new ApolloServer({
    typeDefs: 'type Query { one: Int two: Int }',
    ...options,
    plugins: [
      {
        requestDidStart: async (request) => {
          request.document = parse('{ two }');
          return {
            parsingDidStart: async () => void (seen.parsed += 1),
            validationDidStart: async () => void (seen.validated += 1),
            didResolveOperation: async ({ document }) => void (seen.runs = print(document).replace(/\s+/g, ' ')),
          };
        },
      },
    ],
  });
  await server.executeOperation({ query: '{ one }' });
  await server.stop();
  return `parsed ${seen.parsed}, validated ${seen.validated}, runs ${seen.runs}`;
}

console.log(`default store: ${await tried({})}`);
console.log(`documentStore null: ${await tried({ documentStore: null })}`);
JS
seen=$(node try.mjs)
echo "$seen"
[ "$seen" = 'default store: parsed 1, validated 1, runs { one }
documentStore null: parsed 0, validated 0, runs { two }' ]
