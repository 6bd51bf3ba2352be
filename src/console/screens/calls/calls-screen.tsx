import { useMemo, useState } from 'preact/hooks';
import { StatusChip } from '../../decoding/call-status.tsx';
import type { CallParts } from '../../decoding/decoding.graphql.ts';
import { href, setParameters, usePlace } from '../../navigation/place.ts';
import type { ScreenProps } from '../../navigation/routes.ts';
import { Note } from '../../parts/note.tsx';
import { dateTimeText, preciseText } from '../../parts/time-text.ts';
import { ProductHead } from '../../product/product-head.tsx';
import { may } from '../../session/session.ts';
import { isNarrow, readFilter } from './call-filter.ts';
import { CallPanel } from './call-panel.tsx';
import { callLine, devicesOf } from './call-words.ts';
import { FilterBar } from './filter-bar.tsx';
import { ReplaySheet } from './replay-sheet.tsx';
import { useCallLog } from './use-call-log.ts';
import { type CallSearch, isOpen, MOST_FOUND } from './use-call-search.ts';
import './calls.css';
import { counted, t } from '../../texts/texts.ts';
import { countText } from '../../texts/count-text.ts';

const SHOWN = 200;

/** The call log of a product, live: requests, outcomes, and the ways to correct them. */
export function CallsScreen({ params }: ScreenProps) {
  const id = params['id'] ?? '';
  const { query } = usePlace();
  const filter = useMemo(() => readFilter(query), [query]);
  const [isPaused, setPaused] = useState(false);
  const [shown, setShown] = useState(SHOWN);
  const [replay, setReplay] = useState<{ callId: string | null } | null>(null);
  const log = useCallLog(id, filter, isPaused);
  const chosen = query.get('call');
  const { calls, search } = log;
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
      {search.error !== null && <Note kind="error">{search.error}</Note>}
      <div class="call-log" data-chosen={chosen !== null}>
        <section class="card" aria-label="Calls" aria-busy={search.busy}>
          {calls.length === 0 && (
            <p class="hint nothing">
              {search.busy
                ? 'Looking…'
                : log.isEmpty && !isNarrow(filter)
                  ? 'No call has come yet. Send one to the webhook of the product.'
                  : search.hasMore
                    ? 'None of them is like that.'
                    : 'No call is like that.'}
            </p>
          )}
          <ol class="call-rows">
            {calls.slice(0, shown).map((call) => (
              <CallRow key={call.id} productId={id} call={call} isChosen={call.id === chosen} />
            ))}
          </ol>
          <div class="row call-more" hidden={search.busy && calls.length === 0 && search.lookedThrough === 0}>
            <small class="grow" role="status">
              {counted(calls.length, '{count} call', '{count} calls')}
              {isNarrow(filter) && `, ${farText(search)}`}
            </small>
            {search.busy
              ? calls.length > 0 && <small>Looking…</small>
              : (calls.length > shown || isOpen(search)) && (
                  <button
                    type="button"
                    onClick={() => {
                      setShown(shown + SHOWN);
                      if (calls.length <= shown + SHOWN && isOpen(search)) search.further();
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
            known={calls.find((call) => call.id === chosen) ?? null}
            onClose={() => {
              document.getElementById(rowId(chosen))?.focus();
              setParameters({ call: null });
            }}
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

/** The part of the log that the server has searched. */
function farText({ calls, lookedThrough, reachedAt, hasMore }: CallSearch): string {
  const count = t('{lookedThrough} looked through', { lookedThrough: countText(lookedThrough) });
  if (reachedAt === null) return count;
  if (!hasMore) return t('{count}: all that the log has', { count });
  const back = t('{count}, back to {dateTimeText}', { count, dateTimeText: dateTimeText(new Date(reachedAt)) });
  return calls.length < MOST_FOUND ? back : t('{back}; narrow the filter to see older ones', { back });
}

function rowId(callId: string): string {
  return `call-${callId}`;
}

interface CallRowProps {
  productId: string;
  call: CallParts;
  isChosen: boolean;
}

function CallRow({ productId, call, isChosen }: CallRowProps) {
  const { id, receivedAt, status, run } = call;
  const devices = devicesOf(call);
  const [first] = devices;
  return (
    <li>
      <a
        id={rowId(id)}
        href={href(`/products/${productId}/calls`, { call: id })}
        aria-current={isChosen ? 'true' : undefined}
        onClick={(event) => {
          if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
          event.preventDefault();
          setParameters({ call: id }, { push: true });
        }}
      >
        <time dateTime={receivedAt}>{preciseText(new Date(receivedAt))}</time>
        <StatusChip status={status} />
        <span class="call-device" data-known={first?.isKnown} title={devices.map(({ name }) => name).join(', ')}>
          {first?.name}
          {devices.length > 1 && ` +${devices.length - 1}`}
        </span>
        <span class="mono preview">{callLine(call)}</span>
        {run?.error != null && <small class="failure">{run.error.message}</small>}
      </a>
    </li>
  );
}
