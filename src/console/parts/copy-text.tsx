import { useRef, useState } from 'preact/hooks';
import { Icon } from './icon.tsx';

const SHOWN_MS = 1_500;

interface CopyTextProps {
  /** Name of the text, for the button. */
  label: string;
  text: string;
}

/** A text with a button that copies it. */
export function CopyText({ label, text }: CopyTextProps) {
  const [copied, setCopied] = useState<boolean | null>(null);
  const box = useRef<HTMLDivElement>(null);
  const copy = async (): Promise<void> => {
    const isDone = await copyText(text, box.current!);
    setCopied(isDone);
    if (isDone) setTimeout(() => setCopied(null), SHOWN_MS);
  };
  return (
    <div class="copy" ref={box}>
      <pre>{text}</pre>
      <button
        type="button"
        class="quiet"
        aria-label={`Copy ${label}`}
        title={`Copy ${label}`}
        onClick={() => void copy()}
      >
        <Icon name={copied === true ? 'check' : 'copy'} />
      </button>
      <span role="status" class={copied === false ? 'told' : 'unseen'}>
        {copied === true && 'Copied'}
        {copied === false && 'This browser copies nothing: select the text and copy it.'}
      </span>
    </div>
  );
}

/**
 * Copies a text, also where the browser offers no clipboard (over plain HTTP) or denies it (in a frame): from a field
 * within `box`, as nothing outside of an open dialog can be selected. Returns whether it was copied.
 */
async function copyText(text: string, box: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    box.append(area);
    area.select();
    const isDone = document.execCommand('copy');
    area.remove();
    return isDone;
  }
}
