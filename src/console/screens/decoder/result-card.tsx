import type { RunParts } from '../../decoding/decoding.graphql.ts';
import { EntriesTable } from '../../decoding/entries-table.tsx';
import { Note } from '../../parts/note.tsx';
import type { PrintedLine } from './traced-console.ts';

interface ResultCardProps {
  productId: string;
  run: (RunParts & { printed: PrintedLine[] }) | null;
  error: string | null;
  busy: boolean;
  /** Shows a line of the source. */
  onLine: (line: number) => void;
  onField: () => void;
}

/** The result of the run, as it would be stored now. */
export function ResultCard({ productId, run, error, busy, onLine, onField }: ResultCardProps) {
  const line = run?.error?.line ?? null;
  return (
    <section class="card" aria-labelledby="result-title" aria-busy={busy}>
      <div class="card-head">
        <h2 id="result-title" class="grow">
          Result
        </h2>
        <small role="status">
          {busy ? 'running…' : run === null ? '' : run.ok ? `ran in ${run.durationMs.toFixed(1)} ms` : 'failed'}
        </small>
      </div>
      <div class="stack result" data-busy={busy}>
        {error !== null && <Note kind="error">{error}</Note>}
        {run === null && error === null && (
          <p class="hint">Write a decoder and an input: what it makes of it stands here.</p>
        )}
        {run?.error != null && (
          <Note kind="error">
            <strong>{run.error.kind}</strong> {run.error.message}{' '}
            {line !== null && (
              <button type="button" class="quiet to-line" onClick={() => onLine(line)}>
                line {line}
                {run.error.column !== null && `, column ${run.error.column}`}
              </button>
            )}
          </Note>
        )}
        {run !== null && run.error === null && (
          <EntriesTable productId={productId} entries={run.entries} accepted="would be stored" onField={onField} />
        )}
        {run !== null && run.printed.length > 0 && (
          <div>
            <h3>Console</h3>
            <ol class="printed">
              {run.printed.map(({ text, line: from }, at) => (
                <li key={at}>
                  <pre>{text}</pre>
                  {from !== null && (
                    <button type="button" class="quiet to-line" onClick={() => onLine(from)}>
                      line {from}
                    </button>
                  )}
                </li>
              ))}
            </ol>
          </div>
        )}
        {run !== null && run.error === null && (
          <details>
            <summary>What it returned</summary>
            <pre class="plain-text">{JSON.stringify(run.output, null, 2)}</pre>
          </details>
        )}
      </div>
    </section>
  );
}
