import { useMemo } from 'preact/hooks';
import { lineDifference } from './line-difference.ts';
import './decoding.css';
import { t } from '../texts/texts.ts';

const SIGNS = { same: ' ', gone: '−', new: '+' } as const;
const READ_OUT = { same: '', gone: t('gone: '), new: t('new: ') } as const;
/** Unchanged lines shown around a change. */
const AROUND = 2;

interface TextDifferenceProps {
  label: string;
  before: string;
  after: string;
}

/** The difference of two texts, line by line; long unchanged parts are left out. */
export function TextDifference({ label, before, after }: TextDifferenceProps) {
  const lines = useMemo(() => lineDifference(before, after), [before, after]);
  const isShown = (at: number): boolean =>
    lines.slice(Math.max(0, at - AROUND), at + AROUND + 1).some(({ kind }) => kind !== 'same');
  if (before === after) return <p class="hint">No difference.</p>;
  return (
    <div class="difference" role="region" aria-label={label} tabIndex={0}>
      {lines.map(({ kind, text }, at) => {
        if (!isShown(at)) return at > 0 && isShown(at - 1) ? <hr key={at} /> : null;
        return (
          <pre key={at} data-kind={kind}>
            <span aria-hidden="true">{SIGNS[kind]}</span>
            <span class="unseen">{READ_OUT[kind]}</span>
            {text === '' ? ' ' : text}
          </pre>
        );
      })}
    </div>
  );
}
