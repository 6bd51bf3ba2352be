import { useMemo, useState } from 'preact/hooks';
import { StatusChip } from '../../decoding/call-status.tsx';
import type { CallParts } from '../../decoding/decoding.graphql.ts';
import { href, setParameters, usePlace } from '../../navigation/place.ts';
import type { ScreenProps } from '../../navigation/routes.ts';
import { Note } from '../../parts/note.tsx';
import { dateTimeText } from '../../parts/time-text.ts';
import { ProductHead } from '../../product/product-head.tsx';
import { may } from '../../session/session.ts';
import { readFilter } from './call-filter.ts';
import { CallPanel } from './call-panel.tsx';
import { FilterBar } from './filter-bar.tsx';
import { ReplaySheet } from './replay-sheet.tsx';
import { useCallLog } from './use-call-log.ts';
import './calls.css';

const SHOWN = 200;
const PREVIEW = 160;

/** The call log of a product, live: what was sent, what became of it, and the ways to put it right. */
export function CallsScreen({ params }: ScreenProps) {
  const id = params['id'] ?? '';
  const { query } = usePlace();
  const filter = useMemo(() => readFilter(query), [query]);
  const [isPaused, setPaused] = useState(false);
  const [shown, setShown] = useState(SHOWN);
  const [replay, setReplay] = useState<{ callId: string | null } | null>(null);
  const log = useCallLog(id, filter, isPaused);
  const chosen = query.get('call');
  const { calls, older, hasOlder } = log;
  return (
    <main class="page calls-page">
      <ProductHead id={id} page="calls">
        <button type="button" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
          {isPaused ? `Go on, ${log.waiting} new` : 'Pause'}
        </button>
        {may('CONFIGURE') && (
          <button type="button" onClick={() => setReplay({ callId: null })}>
            Replay…
          </button>
        )}
      </ProductHead>
      <FilterBar filter={filter} />
      {older.error !== null && <Note kind="error">{older.error}</Note>}
      <div class="call-log" data-chosen={chosen !== null}>
        <section class="card" aria-label="Calls" aria-busy={older.busy}>
          {calls.length === 0 && (
            <p class="hint nothing">
              {log.loaded === 0
                ? 'No call has come yet. Send one to the webhook of the product.'
                : 'No call is like that.'}
            </p>
          )}
          <ol class="call-rows">
            {calls.slice(0, shown).map((call) => (
              <CallRow key={call.id} productId={id} call={call} isChosen={call.id === chosen} />
            ))}
          </ol>
          <div class="row call-more">
            <small class="grow" role="status">
              {calls.length} calls{calls.length < log.loaded && ` of ${log.loaded} loaded`}
            </small>
            {(calls.length > shown || (calls.length > 0 && hasOlder)) && (
              <button
                type="button"
                disabled={older.busy}
                onClick={() => {
                  setShown(shown + SHOWN);
                  if (calls.length <= shown + SHOWN && hasOlder) void older.run();
                }}
              >
                Older
              </button>
            )}
          </div>
        </section>
        {chosen !== null && (
          <CallPanel
            productId={id}
            callId={chosen}
            known={log.calls.find((call) => call.id === chosen) ?? null}
            onClose={() => setParameters({ call: null })}
            onReplay={(callId) => setReplay({ callId })}
          />
        )}
      </div>
      {replay !== null && (
        <ReplaySheet productId={id} callId={replay.callId} shown={filter} onClose={() => setReplay(null)} />
      )}
    </main>
  );
}

interface CallRowProps {
  productId: string;
  call: CallParts;
  isChosen: boolean;
}

function CallRow({ productId, call, isChosen }: CallRowProps) {
  const { id, receivedAt, status, method, body, path, run } = call;
  return (
    <li>
      <a
        href={href(`/products/${productId}/calls`, { call: id })}
        aria-current={isChosen ? 'true' : undefined}
        onClick={(event) => {
          if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
          event.preventDefault();
          setParameters({ call: id }, { push: true });
        }}
      >
        <time dateTime={receivedAt}>{dateTimeText(new Date(receivedAt))}</time>
        <StatusChip status={status} />
        <span class="mono preview">
          {method} {body === '' ? path : body.slice(0, PREVIEW)}
        </span>
        {run?.error != null && <small class="failure">{run.error.message}</small>}
      </a>
    </li>
  );
}
