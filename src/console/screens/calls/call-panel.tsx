import { useEffect, useRef, useState } from 'preact/hooks';
import { useQuery } from '../../api/use-query.ts';
import { StatusChip } from '../../decoding/call-status.tsx';
import { type CallParts, OneCall } from '../../decoding/decoding.graphql.ts';
import { EntriesTable } from '../../decoding/entries-table.tsx';
import { href } from '../../navigation/place.ts';
import { Icon } from '../../parts/icon.tsx';
import { Note } from '../../parts/note.tsx';
import { preciseText } from '../../parts/time-text.ts';
import { may } from '../../session/session.ts';
import { AdoptFromCall } from './adopt-from-call.tsx';
import { BODY_VIEWS, type BodyView, bodyText } from './body-text.ts';
import { queryText, unknownDevicesOf } from './call-words.ts';

interface CallPanelProps {
  productId: string;
  callId: string;
  /** The logged call; null: still to be fetched. */
  known: CallParts | null;
  onClose: () => void;
  onReplay: (callId: string) => void;
}

const TABS = ['request', 'entries', 'output', 'console'] as const;

/** One call: its request, the decoder's run, and the ways to correct it. */
export function CallPanel({ productId, callId, known, onClose, onReplay }: CallPanelProps) {
  const { data, error, refetch } = useQuery(OneCall, known === null ? { productId, id: callId } : null);
  const [tab, setTab] = useState<(typeof TABS)[number]>('request');
  const panel = useRef<HTMLElement>(null);
  // Focus the panel: many rows lie between it and the chosen one.
  useEffect(() => panel.current?.focus({ preventScroll: true }), [callId]);
  const call = known ?? (data?.product.call.id === callId ? data.product.call : null);
  const run = call?.run ?? null;
  return (
    <aside
      ref={panel}
      class="card call-panel"
      tabIndex={-1}
      aria-label="The call chosen"
      onKeyDown={(event) => event.key === 'Escape' && onClose()}
    >
      <div class="card-head">
        {call !== null && <StatusChip status={call.status} />}
        <strong class="grow">{call === null ? '' : preciseText(new Date(call.receivedAt))}</strong>
        <button type="button" class="quiet" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </div>
      <div class="stack call-parts">
        {error !== null && call === null && <Note kind="error">{error.message}</Note>}
        {call !== null && (
          <>
            {run?.error != null && (
              <Note kind="error">
                <strong>{run.error.kind}</strong> {run.error.message}
                {run.error.line !== null && ` (line ${run.error.line})`}
              </Note>
            )}
            {call.reason !== null && <Note>{call.reason}</Note>}
            {may('CONFIGURE') && unknownDevicesOf(call).length > 0 && (
              <AdoptFromCall key={call.id} productId={productId} names={unknownDevicesOf(call)} />
            )}
            {may('CONFIGURE') && (
              <div class="row">
                <a
                  class={`button ${run?.ok === true ? '' : 'primary'}`}
                  href={href(`/products/${productId}/decoder`, { call: callId })}
                >
                  <Icon name="code" /> Debug in editor
                </a>
                <button type="button" disabled={call.bodyTruncated} onClick={() => onReplay(callId)}>
                  Replay this call
                </button>
              </div>
            )}
            <div class="tabs" role="group" aria-label="Parts of the call">
              {TABS.map((name) => (
                <button key={name} type="button" aria-pressed={tab === name} onClick={() => setTab(name)}>
                  {name[0]!.toUpperCase() + name.slice(1)}
                  {name === 'entries' && run !== null && ` (${run.entries.length})`}
                  {name === 'console' && run !== null && ` (${run.console.length})`}
                </button>
              ))}
            </div>
            {tab === 'request' && <CallRequest call={call} />}
            {tab !== 'request' && run === null && <p class="hint">No decoder ran.</p>}
            {tab === 'entries' && run !== null && (
              <EntriesTable
                productId={productId}
                entries={run.entries}
                accepted="stored"
                onField={() => void refetch()}
              />
            )}
            {tab === 'output' && run !== null && (
              <pre class="plain-text">{run.error === null ? JSON.stringify(run.output, null, 2) : 'No output.'}</pre>
            )}
            {tab === 'console' && run !== null && <pre class="plain-text">{run.console.join('\n')}</pre>}
            {run?.truncated === true && <p class="hint">Output or entries were too long for the log and are cut.</p>}
            <p class="hint">
              Answered {call.httpStatus}
              {run !== null && `, ran ${run.durationMs.toFixed(1)} ms`}
              {call.decoderVersion !== null && `, decoder version ${call.decoderVersion}`}
            </p>
          </>
        )}
      </div>
    </aside>
  );
}

function CallRequest({ call }: { call: CallParts }) {
  const [view, setView] = useState<BodyView>('pretty');
  const headers = Object.entries(call.headers as Record<string, string>);
  return (
    <>
      <p class="mono request-line">
        {call.method} {call.path}
        {queryText(call.query)}
      </p>
      <div class="tabs" role="group" aria-label="Body">
        {BODY_VIEWS.map((name) => (
          <button key={name} type="button" aria-pressed={view === name} onClick={() => setView(name)}>
            {name}
          </button>
        ))}
      </div>
      {call.body === '' ? <p class="hint">No body.</p> : <pre class="plain-text">{bodyText(call.body, view)}</pre>}
      {call.bodyTruncated && <Note>The log keeps only this much of the body; the call cannot be replayed.</Note>}
      <details>
        <summary>Headers ({headers.length})</summary>
        <pre class="plain-text">{headers.map(([name, value]) => `${name}: ${value}`).join('\n')}</pre>
      </details>
    </>
  );
}
