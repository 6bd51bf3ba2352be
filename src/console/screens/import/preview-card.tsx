import { useEffect, useState } from 'preact/hooks';
import { wordsOf } from '../../api/api-error.ts';
import { Note } from '../../parts/note.tsx';
import { dateTimeText } from '../../parts/time-text.ts';
import '../../decoding/decoding.css';
import type { FileHead } from './file-head.ts';
import { bodyOf } from './file-pieces.ts';
import { type ImportSettings, type PreviewedValue, sendPiece } from './send-piece.ts';

const LATER_MS = 250;
const AGAIN_MS = 3_000;

/** The outcome of trying the first lines; null: not known yet. */
type Preview = { values: PreviewedValue[]; error: null } | { values: []; error: string };

/** Tries the first lines whenever the settings change; `settings` null: they are not complete. */
export function usePreview(head: FileHead | null, settings: ImportSettings | null): Preview | null {
  const [preview, setPreview] = useState<Preview | null>(null);
  const [attempt, setAttempt] = useState(0);
  const key = settings === null ? null : JSON.stringify(settings);
  useEffect(() => {
    if (head === null || settings === null) return setPreview(null);
    const stop = new AbortController();
    const ask = async (): Promise<void> => {
      try {
        const { text, before } = bodyOf(head, head.records);
        const { preview: values = [] } = await sendPiece(settings, text, true, stop.signal);
        const shift = head.firstLine - before - 1;
        setPreview({ values: values.map((value) => ({ ...value, line: value.line + shift })), error: null });
      } catch (error) {
        if (stop.signal.aborted) return;
        setPreview({ values: [], error: wordsOf(error) });
        const { code } = error as { code?: string };
        if (code === 'OFFLINE' || code === 'BUSY') again = setTimeout(() => setAttempt(attempt + 1), AGAIN_MS);
      }
    };
    const timer = setTimeout(() => void ask(), LATER_MS);
    let again: ReturnType<typeof setTimeout> | undefined;
    return () => {
      stop.abort();
      clearTimeout(timer);
      clearTimeout(again);
    };
  }, [head, key, attempt]);
  return preview;
}

interface PreviewCardProps {
  preview: Preview | null;
  /** The reason that there is none; null: it is on its way. */
  lacks: string | null;
}

/** A time as the reader has it, where it was read; else as it stands in the file. */
function timeText(timestamp: string | null): string {
  if (timestamp === null) return '–';
  return timestamp.endsWith('Z') ? dateTimeText(new Date(timestamp)) : timestamp;
}

/** The first lines, value by value, as they would become. */
export function PreviewCard({ preview, lacks }: PreviewCardProps) {
  const values = preview?.values ?? [];
  return (
    <section class="card" aria-labelledby="import-preview" aria-busy={lacks === null && preview === null}>
      <div class="card-head">
        <h2 id="import-preview">4. What the first lines would become</h2>
      </div>
      {lacks !== null && <p class="hint nothing">{lacks}</p>}
      {lacks === null && preview?.error != null && <Note kind="error">{preview.error}</Note>}
      {lacks === null && preview !== null && preview.error === null && values.length === 0 && (
        <p class="hint nothing">The first lines have no values.</p>
      )}
      {lacks === null && values.length > 0 && (
        <div class="scroll-x previewed" role="region" aria-label="What the first lines would become" tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th class="number">Line</th>
                <th>Device</th>
                <th>Time</th>
                <th>Field</th>
                <th>Value</th>
                <th>Outcome</th>
              </tr>
            </thead>
            <tbody>
              {values.map(({ line, device, timestamp, field, value, code, message }, at) => (
                <tr key={at}>
                  <td class="number">{line}</td>
                  <td>{device ?? '–'}</td>
                  <td>{timeText(timestamp)}</td>
                  <td class="mono">{field ?? '–'}</td>
                  <td class="mono">{value === null ? '–' : JSON.stringify(value)}</td>
                  <td>
                    {code === null ? (
                      <span class="chip good">would be stored</span>
                    ) : (
                      <>
                        <span class="chip bad">refused</span> <small>{message}</small>
                      </>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
