import { useMemo, useState } from 'preact/hooks';
import { useStore } from '../../api/store.ts';
import { useLookedAt } from '../../api/use-looked-at.ts';
import { useQuery } from '../../api/use-query.ts';
import { href, useParameter } from '../../navigation/place.ts';
import { useTitle } from '../../navigation/use-title.ts';
import { Note } from '../../parts/note.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { dateTimeText } from '../../parts/time-text.ts';
import { may, workspaceId } from '../../session/session.ts';
import { WorkspaceCrumb } from '../../session/workspace-crumb.tsx';
import { networkWord } from '../../unknown/network-words.ts';
import type { Outcome, Unknown } from './adopt.ts';
import { AdoptSheet } from './adopt-sheet.tsx';
import { Outcomes } from './outcomes.tsx';
import { AdoptionChoices, UnknownList } from './unknown-list.graphql.ts';
import './unknown-screen.css';
import { counted, t } from '../../texts/texts.ts';
import { countText } from '../../texts/count-text.ts';

const LOOK_MS = 5_000;
/** Rows drawn before one asks for more. */
const PAGE = 200;

/** The devices that sent and are not known: what they are called, and a way to make devices of one or many. */
export function UnknownScreen() {
  useTitle(t('Unknown devices'));
  const workspace = useStore(workspaceId);
  const { data, error, refetch } = useLookedAt(UnknownList, { workspaceId: workspace }, LOOK_MS);
  const choices = useQuery(AdoptionChoices, { workspaceId: workspace });
  const [search, setSearch] = useParameter('search');
  const [most, setMost] = useState(PAGE);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [adopting, setAdopting] = useState<readonly Unknown[] | null>(null);
  const [outcomes, setOutcomes] = useState<readonly Outcome[]>([]);
  const products = choices.data?.products.edges.map(({ node }) => node) ?? [];
  const all = data?.unknownDevices ?? [];
  const wanted = (search ?? '').trim().toLowerCase();
  const rows = useMemo(() => all.filter(({ identifier }) => identifier.toLowerCase().includes(wanted)), [data, wanted]);
  const chosen = rows.filter(({ id }) => selected.has(id));
  const mayAdopt = may('CONFIGURE');
  const choose = (ids: readonly string[], isChosen: boolean): void => {
    const next = new Set(selected);
    for (const id of ids)
      if (isChosen) next.add(id);
      else next.delete(id);
    setSelected(next);
  };
  return (
    <main class="page">
      <div class="page-head">
        <div class="grow">
          <nav class="crumbs" aria-label="Where this is">
            <WorkspaceCrumb />
            <a href={href('/devices')}>Devices</a>
          </nav>
          <h1>Unknown devices {data !== null && <span class="count">{countText(all.length)}</span>}</h1>
        </div>
        <input
          class="unknown-search"
          type="search"
          aria-label="Part of the identifier"
          placeholder="Part of the identifier"
          value={search ?? ''}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
        {mayAdopt && (
          <button type="button" class="primary" disabled={chosen.length === 0} onClick={() => setAdopting(chosen)}>
            {chosen.length === 0 ? 'Adopt' : `Adopt ${countText(chosen.length)}`}
          </button>
        )}
      </div>
      <p class="muted">
        They sent through a network or named themselves on a webhook, but are no devices here yet. What they send is
        kept until they are adopted.
      </p>
      {error !== null && <Note kind="error">{error.message}</Note>}
      {outcomes.length > 0 && <Outcomes outcomes={outcomes} onClose={() => setOutcomes([])} />}
      {data !== null && rows.length === 0 ? (
        <Note>
          {wanted === ''
            ? 'None waits. A device that sends and is not known shows up here within seconds.'
            : 'None is called like that.'}
        </Note>
      ) : (
        <div class="card scroll-x" aria-busy={data === null}>
          <table class="unknown">
            <thead>
              <tr>
                {mayAdopt && (
                  <th class="check">
                    <input
                      type="checkbox"
                      aria-label="Choose all"
                      disabled={rows.length === 0}
                      checked={rows.length > 0 && chosen.length === rows.length}
                      onChange={(event) =>
                        choose(
                          rows.map(({ id }) => id),
                          event.currentTarget.checked,
                        )
                      }
                    />
                  </th>
                )}
                <th>Identifier</th>
                <th class="number">Sent</th>
                <th>Last</th>
                {mayAdopt && (
                  <th>
                    <span class="unseen">Actions</span>
                  </th>
                )}
              </tr>
            </thead>
            <tbody>
              {rows.slice(0, most).map((one) => (
                <tr key={one.id}>
                  {mayAdopt && (
                    <td class="check">
                      <input
                        type="checkbox"
                        aria-label={`Choose ${one.identifier}`}
                        checked={selected.has(one.id)}
                        onChange={(event) => choose([one.id], event.currentTarget.checked)}
                      />
                    </td>
                  )}
                  <td>
                    <span class="mono">{one.identifier}</span>{' '}
                    {one.ambiguous && <span class="chip">several devices have it</span>}
                    <small class="through">
                      {networkWord(one.network)}
                      {one.productId !== null && (
                        <>
                          {' of '}
                          <a href={href(`/products/${one.productId}`)}>
                            {products.find(({ id }) => id === one.productId)?.name ?? 'a product'}
                          </a>
                        </>
                      )}
                    </small>
                  </td>
                  <td class="number" title={`first ${dateTimeText(new Date(one.firstSeenAt))}`}>
                    {counted(one.seen, 'once', '{count} times')}
                  </td>
                  <td>
                    <TimeAgo at={one.lastSeenAt} />
                  </td>
                  {mayAdopt && (
                    <td class="number">
                      <button type="button" aria-label={`Adopt ${one.identifier}`} onClick={() => setAdopting([one])}>
                        Adopt
                      </button>
                    </td>
                  )}
                </tr>
              ))}
            </tbody>
          </table>
          {rows.length > most && (
            <button type="button" class="quiet" onClick={() => setMost(most + PAGE)}>
              More
            </button>
          )}
        </div>
      )}
      {adopting !== null && choices.data !== null && (
        <AdoptSheet
          chosen={adopting}
          products={products}
          plans={choices.data.plans}
          onOutcome={(outcome) => setOutcomes((before) => [outcome, ...before])}
          onDone={() => {
            setAdopting(null);
            setSelected(new Set());
            void refetch();
          }}
          onClose={() => {
            setAdopting(null);
            void refetch();
          }}
        />
      )}
    </main>
  );
}
