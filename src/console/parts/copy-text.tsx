import { useState } from 'preact/hooks';
import { Icon } from './icon.tsx';

const SHOWN_MS = 1_500;

interface CopyTextProps {
  /** Name of the text, for the button. */
  label: string;
  text: string;
}

/** A text with a button that copies it. */
export function CopyText({ label, text }: CopyTextProps) {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await copyText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), SHOWN_MS);
  };
  return (
    <div class="copy">
      <pre>{text}</pre>
      <button
        type="button"
        class="quiet"
        aria-label={`Copy ${label}`}
        title={`Copy ${label}`}
        onClick={() => void copy()}
      >
        <Icon name={isCopied ? 'check' : 'copy'} />
      </button>
      <span role="status" class="unseen">
        {isCopied ? 'Copied' : ''}
      </span>
    </div>
  );
}

/** Copies a text, also over plain HTTP, where browsers offer no clipboard. */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}
