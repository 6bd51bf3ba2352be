import { Note } from '../../parts/note.tsx';
import { dateTimeText } from '../../parts/time-text.ts';
import type { ReplayKind } from './replay-comparison.ts';
import type { ReplayTally } from './replay-steps.ts';

const KINDS: readonly { kind: ReplayKind; text: string }[] = [
  { kind: 'new', text: 'New' },
  { kind: 'replaced', text: 'Replaced' },
  { kind: 'unchanged', text: 'Unchanged' },
  { kind: 'refused', text: 'Refused' },
  { kind: 'unknown', text: 'Not compared' },
];

/** What a replay would do: how many values are new, replaced, unchanged or refused, and the first that are not unchanged. */
export function DryRunTable({ tally }: { tally: ReplayTally }) {
  const { kinds, rows, failed, failure, calls } = tally;
  return (
    <>
      <dl class="tally" aria-label="What the replay would do">
        {KINDS.filter(({ kind }) => kind !== 'unknown' || kinds.unknown > 0).map(({ kind, text }) => (
          <div key={kind}>
            <dt>{text}</dt>
            <dd>{kinds[kind]}</dd>
          </div>
        ))}
        <div>
          <dt>Failed calls</dt>
          <dd>{failed}</dd>
        </div>
      </dl>
      {failure !== null && (
        <Note kind="error">
          {failed} of {calls} calls fail: {failure}
        </Note>
      )}
      {rows.length > 0 && (
        <div class="scroll-x dry-rows" role="region" aria-label="Values of the replay" tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th>Outcome</th>
                <th>Device</th>
                <th>Field</th>
                <th>Stored</th>
                <th>Comes</th>
                <th>Time</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row, at) => (
                <tr key={at}>
                  <td>
                    <span class={`chip ${row.kind === 'new' ? 'good' : row.kind === 'refused' ? 'bad' : 'warn'}`}>
                      {row.kind}
                    </span>
                  </td>
                  <td>{row.device}</td>
                  <td class="mono">{row.field}</td>
                  <td class="mono">{row.before === null ? '–' : JSON.stringify(row.before)}</td>
                  <td class="mono">{row.message ?? JSON.stringify(row.value)}</td>
                  <td>{row.at === null ? '–' : dateTimeText(new Date(row.at))}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}
