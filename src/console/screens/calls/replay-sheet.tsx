import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { useAction } from '../../api/use-action.ts';
import type { CallStatus } from '../../api/schema-types.ts';
import { CALL_STATUSES } from '../../decoding/call-status.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { textsOf } from '../../parts/form-texts.ts';
import { Note } from '../../parts/note.tsx';
import { localTime, readLocalTime } from '../../time/local-time.ts';
import { chosenCalls, NOTHING_REPLAYED, replayInSteps, type ReplayChoice, type ReplayTally } from './replay-steps.ts';
import { DryRunTable } from './dry-run-table.tsx';
import { countText } from '../../texts/count-text.ts';
import { counted, t } from '../../texts/texts.ts';

interface ReplaySheetProps {
  productId: string;
  /** The call to replay; null: choose a range. */
  callId: string | null;
  /** The first range and outcomes, as the log shows them. */
  shown: { from: number | null; to: number | null; statuses: readonly CallStatus[] };
  onClose: () => void;
}

const DAY_MS = 86_400_000;
const MENDED: readonly CallStatus[] = ['DECODER_FAILED', 'NO_DECODER'];

type Step = 'choose' | 'checking' | 'checked' | 'running' | 'done';

/** Replays logged calls: first shows the effect, then does it; can be stopped at any time. */
export function ReplaySheet({ productId, callId, shown, onClose }: ReplaySheetProps) {
  const [step, setStep] = useState<Step>('choose');
  const [ids, setIds] = useState<readonly string[]>([]);
  const [tally, setTally] = useState<ReplayTally>(NOTHING_REPLAYED);
  const [isStopped, setStopped] = useState(false);
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);
  const go = async (calls: readonly string[], dryRun: boolean): Promise<void> => {
    setTally(NOTHING_REPLAYED);
    setStopped(false);
    setStep(dryRun ? 'checking' : 'running');
    try {
      await replayInSteps(productId, calls, dryRun, { signal: stop.current.signal, tell: setTally });
    } finally {
      setStopped(stop.current.signal.aborted);
      setStep(dryRun ? 'checked' : 'done');
    }
  };
  const checking = useAction(async (choice: ReplayChoice) => {
    stop.current = new AbortController();
    const calls = await chosenCalls(productId, choice, stop.current.signal);
    setIds(calls);
    await go(calls, true);
  });
  const running = useAction(async () => {
    stop.current = new AbortController();
    await go(ids, false);
  });
  useEffect(() => {
    if (callId !== null) void checking.run({ callIds: [callId] });
  }, [callId]);
  const onSubmit = (event: SubmitEvent): void => {
    event.preventDefault();
    const choice = event.currentTarget as HTMLFormElement;
    const text = textsOf(choice);
    const time = (name: string): string | null => readLocalTime(text(name));
    const status = new FormData(choice).getAll('status') as CallStatus[];
    void checking.run({ from: time('from'), to: time('to'), status: status.length === 0 ? null : status });
  };
  const form = useId();
  const isBusy = step === 'checking' || step === 'running';
  return (
    <Dialog title={callId === null ? 'Replay calls' : 'Replay this call'} onClose={onClose}>
      {callId === null && (
        <form id={form} class="stack" onSubmit={onSubmit}>
          <div class="replay-range">
            <label>
              Received from
              <input name="from" type="datetime-local" defaultValue={localTime(shown.from ?? Date.now() - DAY_MS)} />
            </label>
            <label>
              to
              <input
                name="to"
                type="datetime-local"
                defaultValue={shown.to === null ? '' : localTime(shown.to)}
                aria-describedby="replay-to"
              />
              <small id="replay-to">Empty: until now</small>
            </label>
          </div>
          <fieldset class="row">
            <legend class="hint">Only calls that ended as</legend>
            {CALL_STATUSES.map(({ status, text }) => (
              <label key={status} class="check">
                <input
                  type="checkbox"
                  name="status"
                  value={status}
                  defaultChecked={(shown.statuses.length === 0 ? MENDED : shown.statuses).includes(status)}
                />
                {text}
              </label>
            ))}
          </fieldset>
        </form>
      )}
      {checking.error !== null && <Note kind="error">{checking.error}</Note>}
      {running.error !== null && <Note kind="error">{running.error}</Note>}
      {isBusy && (
        <div class="row">
          <progress class="grow" max={Math.max(1, ids.length)} value={tally.calls} aria-label="How far it is" />
          <span role="status">
            {counted(ids.length, '{done} of {count} call', '{done} of {count} calls', { done: countText(tally.calls) })}
          </span>
          <button type="button" onClick={() => stop.current.abort()}>
            Stop
          </button>
        </div>
      )}
      {(step === 'checking' || step === 'checked') && <DryRunTable tally={tally} />}
      {step === 'checked' && isStopped && (
        <Note>
          {counted(
            tally.calls,
            'The dry run was stopped after {count} call.',
            'The dry run was stopped after {count} calls.',
          )}
        </Note>
      )}
      {step === 'checked' && ids.length === 0 && checking.error === null && <Note>No call is like that.</Note>}
      {step === 'done' && (
        <Note>
          {isStopped
            ? counted(ids.length, 'Stopped after {done} of {count} call:', 'Stopped after {done} of {count} calls:', {
                done: countText(tally.calls),
              })
            : counted(tally.calls, '{count} call was run again:', '{count} calls were run again:')}{' '}
          {tallyText(tally)}.
        </Note>
      )}
      <div class="actions">
        <button type="button" onClick={onClose}>
          {step === 'done' ? 'Done' : 'Cancel'}
        </button>
        {callId === null && (
          <button
            type="submit"
            form={form}
            class={step === 'choose' ? 'primary' : ''}
            disabled={isBusy || checking.busy}
          >
            Dry run
          </button>
        )}
        {step === 'checked' && ids.length > 0 && (
          <button type="button" class="primary" onClick={() => void running.run()}>
            {counted(ids.length, 'Replay the call', 'Replay {count} calls')}
          </button>
        )}
      </div>
    </Dialog>
  );
}

/** What the calls of a replay stored, and how many of them failed. */
function tallyText({ stored, removed, rejected, failed, failure }: ReplayTally): string {
  const counts = [
    counted(stored, '{count} value stored', '{count} values stored'),
    ...(removed > 0 ? [t('{removed} removed', { removed: countText(removed) })] : []),
    t('{rejected} refused', { rejected: countText(rejected) }),
    counted(failed, '{count} call failed', '{count} calls failed'),
  ];
  return `${counts.join(', ')}${failure === null ? '' : ` (${failure})`}`;
}
