import { Note } from '../../parts/note.tsx';
import { dateTimeText } from '../../parts/time-text.ts';
import type { ReplayTally } from './replay-steps.ts';
import { countText } from '../../texts/count-text.ts';
import { counted, t } from '../../texts/texts.ts';

type Count = 'added' | 'changed' | 'unchanged' | 'removed' | 'kept' | 'rejected' | 'failed';

/** Columns of counts; `kept` is shown if it is not 0. */
const COUNTS: readonly { count: Count; text: string }[] = [
  { count: 'added', text: t('New') },
  { count: 'changed', text: t('Replaced') },
  { count: 'unchanged', text: t('Unchanged') },
  { count: 'removed', text: t('Removed') },
  { count: 'kept', text: t('Left as they are') },
  { count: 'rejected', text: t('Refused') },
  { count: 'failed', text: t('Failed calls') },
];

/**
 * The effect of a replay: numbers of new, replaced, removed values and so on, and the first entries that change
 * something.
 */
export function DryRunTable({ tally }: { tally: ReplayTally }) {
  const { rows, kept, unknown, failed, failure, calls } = tally;
  return (
    <>
      <dl class="tally" aria-label="What the replay would do">
        {COUNTS.filter(({ count }) => count !== 'kept' || kept > 0).map(({ count, text }) => (
          <div key={count}>
            <dt>{text}</dt>
            <dd>{tally[count]}</dd>
          </div>
        ))}
      </dl>
      {kept > 0 && (
        <Note>
          {counted(
            kept,
            '{count} value of the earlier run is left: something else has written it since, or the new entry of its field is refused.',
            '{count} values of the earlier run are left: something else has written them since, or the new entry of their field is refused.',
          )}
        </Note>
      )}
      {unknown > 0 && (
        <Note>
          {counted(
            unknown,
            '{count} call is of an older version: what it stored is not known, and nothing of it is removed.',
            '{count} calls are of an older version: what they stored is not known, and nothing of it is removed.',
          )}
        </Note>
      )}
      {failure !== null && (
        <Note kind="error">
          {counted(failed, '{count} of {calls} calls fails: {failure}', '{count} of {calls} calls fail: {failure}', {
            calls: countText(calls),
            failure,
          })}
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
