import { useEffect, useState } from 'preact/hooks';
import { Icon } from '../../parts/icon.tsx';
import { Note } from '../../parts/note.tsx';
import type { FileHead } from './file-head.ts';
import type { ImportProgress } from './import-run.ts';
import { refusedFile } from './refused-file.ts';
import { t } from '../../texts/texts.ts';
import { countText } from '../../texts/count-text.ts';

/** Refused lines shown; all that are kept are in the file. */
const SHOWN = 100;

interface OutcomeCardProps {
  progress: ImportProgress;
  /** True when nothing was to be stored. */
  isTrial: boolean;
  fileName: string;
  head: FileHead;
  onStop: () => void;
  onGoOn: () => void;
}

/** How far an import or its trial is, what it did, and the lines that were refused. */
export function OutcomeCard({ progress, isTrial, fileName, head, onStop, onGoOn }: OutcomeCardProps) {
  const { state, part, lines, values, refused, replaced, ahead, refusedLines, error } = progress;
  const counts = [
    { text: t('Lines'), count: lines },
    { text: isTrial ? t('Values that would be stored') : t('Values stored'), count: values },
    { text: t('Lines with something refused'), count: refused },
    ...(replaced > 0 ? [{ text: t('Replaced by a later line'), count: replaced }] : []),
  ];
  const isUnderWay = state === 'going' || state === 'waiting';
  return (
    <section class="card" aria-labelledby="import-outcome" aria-busy={isUnderWay}>
      <div class="card-head">
        <h2 id="import-outcome" class="grow">
          {isTrial ? TRIAL[state] : IMPORT[state]}
        </h2>
        {isUnderWay && (
          <button type="button" onClick={onStop}>
            Stop
          </button>
        )}
        {(state === 'stopped' || state === 'failed') && (
          <button type="button" class="primary" onClick={onGoOn}>
            Go on
          </button>
        )}
      </div>
      <div class="stack outcome">
        {state !== 'done' && (
          <div class="row">
            <progress aria-label="How far it is" value={Math.round(part * 1_000)} max={1_000} />
            <small>{Math.floor(part * 100)} %</small>
          </div>
        )}
        {error !== null && (
          <Note kind={state === 'failed' ? 'error' : 'info'}>
            {error} {state === 'waiting' && 'It goes on by itself once the server is back.'}
          </Note>
        )}
        <dl class="tally" aria-label={isTrial ? 'What the import would do' : 'What the import did'}>
          {counts.map(({ text, count }) => (
            <div key={text}>
              <dt>{text}</dt>
              <dd>{countText(count)}</dd>
            </div>
          ))}
        </dl>
        {ahead !== null && <Note>{ahead}</Note>}
        {refusedLines.length > 0 && !isUnderWay && (
          <>
            <div class="row">
              <RefusedLink head={head} progress={progress} fileName={fileName} />
              {refusedLines.length < refused && (
                <small>
                  The first {countText(refusedLines.length)} of {countText(refused)} are in it.
                </small>
              )}
            </div>
            <div class="scroll-x refused-lines" role="region" aria-label="Refused lines" tabIndex={0}>
              <table>
                <thead>
                  <tr>
                    <th class="number">Line</th>
                    <th>Reason</th>
                  </tr>
                </thead>
                <tbody>
                  {refusedLines.slice(0, SHOWN).map(({ line, reasons }) => (
                    <tr key={line}>
                      <td class="number">{line}</td>
                      <td>{reasons.join(' ')}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          </>
        )}
      </div>
    </section>
  );
}

const IMPORT: Record<ImportProgress['state'], string> = {
  going: t('Importing'),
  waiting: t('Waiting for the server'),
  stopped: t('Stopped'),
  done: t('Imported'),
  failed: t('The import has stopped'),
};
const TRIAL: Record<ImportProgress['state'], string> = {
  ...IMPORT,
  going: t('Trying all lines'),
  done: t('Tried: nothing was stored'),
  failed: t('The trial has stopped'),
};

function RefusedLink({ head, progress, fileName }: Pick<OutcomeCardProps, 'head' | 'progress' | 'fileName'>) {
  const [url, setUrl] = useState<string | null>(null);
  const { refusedLines } = progress;
  useEffect(() => {
    const made = URL.createObjectURL(refusedFile(head, refusedLines));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [head, refusedLines]);
  const [name = 'file'] = fileName.replace(/\.gz$/i, '').split(/\.[^.]*$/);
  return (
    <a class="button" href={url ?? undefined} download={`${name}-refused.${head.kind === 'csv' ? 'csv' : 'ndjson'}`}>
      <Icon name="download" /> Refused lines as a file
    </a>
  );
}
