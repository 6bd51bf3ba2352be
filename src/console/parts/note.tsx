import type { ComponentChildren } from 'preact';

interface NoteProps {
  kind?: 'error' | 'info';
  children: ComponentChildren;
}

/** A sentence in the page: an error, or that there is nothing (yet). Errors are read out. */
export function Note({ kind = 'info', children }: NoteProps) {
  return (
    <div class="note" data-kind={kind} role={kind === 'error' ? 'alert' : undefined}>
      {children}
    </div>
  );
}
