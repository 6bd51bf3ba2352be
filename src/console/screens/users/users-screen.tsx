import { useEffect, useState } from 'preact/hooks';
import { request } from '../../api/request.ts';
import { useStore } from '../../api/store.ts';
import { useAction } from '../../api/use-action.ts';
import { useQuery } from '../../api/use-query.ts';
import { href, useParameter } from '../../navigation/place.ts';
import { useTitle } from '../../navigation/use-title.ts';
import { Icon } from '../../parts/icon.tsx';
import { Note } from '../../parts/note.tsx';
import { toast } from '../../parts/toasts.tsx';
import { useLater } from '../../parts/use-later.ts';
import { countText } from '../../texts/count-text.ts';
import { session } from '../../session/session.ts';
import { MakePasswordLink } from '../access/access.graphql.ts';
import { Links, type PersonLink } from '../access/links.tsx';
import { UserPage } from './users.graphql.ts';
import { type ShownUser, UserSheet, type UserSheetKind } from './user-sheet.tsx';
import './users.css';
import { t } from '../../texts/texts.ts';

const LATER_MS = 200;

type Page = NonNullable<(typeof UserPage)['data']>['users'];

/** The people who have an account on this server, for its operators. */
export function UsersScreen() {
  useTitle(t('Users'));
  const now = useStore(session);
  const viewer = now.state === 'in' ? now.viewer.user : null;
  const isOperator = viewer?.operator === true;
  const [search, setSearch] = useParameter('search');
  const later = useLater((search ?? '').trim(), LATER_MS);
  const variables = { search: later === '' ? null : later };
  const { data, error, loading, fresh, refetch } = useQuery(UserPage, isOperator ? variables : null);
  const [further, setFurther] = useState<readonly Page[]>([]);
  useEffect(() => setFurther([]), [data]);
  const [sheet, setSheet] = useState<{ kind: UserSheetKind; user: ShownUser | null } | null>(null);
  const [link, setLink] = useState<PersonLink | null>(null);
  const going = useAction(async (after: string | null) => {
    const { users } = await request(UserPage, { ...variables, after });
    setFurther((before) => [...before, users]);
  });
  const linking = useAction(async ({ id, email }: ShownUser) => {
    const { createPasswordReset } = await request(MakePasswordLink, { userId: id });
    toast(t('The link works once, within a day.'));
    setLink({ email, url: createPasswordReset.url, what: t('choose a password') });
  });
  const pages = data === null ? [] : [data.users, ...further];
  const users = pages.flatMap(({ edges }) => edges.map(({ node }) => node));
  const last = pages.at(-1)?.pageInfo;
  return (
    <main class="page users">
      <header class="page-head">
        <div class="grow">
          <nav class="crumbs" aria-label="Where this is">
            <a href={href('/access')}>Access</a>
          </nav>
          <h1>Users {data !== null && <span class="count">{countText(data.users.totalCount)}</span>}</h1>
        </div>
        {isOperator && (
          <button type="button" class="primary" onClick={() => setSheet({ kind: 'new', user: null })}>
            <Icon name="plus" /> User
          </button>
        )}
      </header>
      {!isOperator && <Note>The list of users is for operators of this server.</Note>}
      {error !== null && <Note kind="error">{error.message}</Note>}
      {linking.error !== null && <Note kind="error">{linking.error}</Note>}
      {going.error !== null && <Note kind="error">{going.error}</Note>}
      {isOperator && (
        <section class="card" aria-label="Users" aria-busy={loading || !fresh}>
          <header class="card-head">
            <input
              type="search"
              aria-label="Search users"
              placeholder="Part of an address"
              value={search ?? ''}
              onInput={(event) => setSearch(event.currentTarget.value)}
            />
          </header>
          {data !== null && users.length === 0 && <p class="nothing">Nobody fits.</p>}
          <ul class="members">
            {users.map((user) => (
              <li key={user.id}>
                <div class="grow">
                  <strong>{user.name ?? user.email}</strong>
                  {user.name !== null && <small> {user.email}</small>}{' '}
                  {user.operator && <span class="chip">operator</span>}{' '}
                  {user.id === viewer?.id && <span class="chip">you</span>}
                </div>
                <button
                  type="button"
                  class="quiet"
                  aria-label={`Change ${user.email}`}
                  onClick={() => setSheet({ kind: 'change', user })}
                >
                  Change
                </button>
                <button
                  type="button"
                  class="quiet"
                  aria-label={`Password link for ${user.email}`}
                  disabled={linking.busy}
                  onClick={() => void linking.run(user)}
                >
                  Password link
                </button>
                <button
                  type="button"
                  class="quiet danger"
                  aria-label={`Delete ${user.email}`}
                  onClick={() => setSheet({ kind: 'delete', user })}
                >
                  Delete
                </button>
              </li>
            ))}
          </ul>
          {last?.hasNextPage === true && (
            <div class="row more">
              <button type="button" disabled={going.busy} onClick={() => void going.run(last.endCursor)}>
                More
              </button>
            </div>
          )}
        </section>
      )}
      {link !== null && <Links links={[link]} onClose={() => setLink(null)} />}
      {sheet !== null && (
        <UserSheet
          {...sheet}
          onClose={() => setSheet(null)}
          onDone={(made) => {
            setSheet(null);
            void refetch();
            if (made !== null) void linking.run(made);
          }}
        />
      )}
    </main>
  );
}
