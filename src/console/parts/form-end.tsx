import type { ComponentChildren } from 'preact';
import { Note } from './note.tsx';

interface FormEndProps {
  /** What sending the form does: is it under way, and why it failed last. */
  action: { busy: boolean; error: string | null };
  /** Goes away without it, as Escape does. */
  onCancel: () => void;
  /** What going away is called. */
  cancel?: string;
  /** It takes something away for good. */
  danger?: boolean;
  /** What sending it is called. */
  children: ComponentChildren;
}

/** The last rows of a form: why it failed, and the button that sends it. */
export function FormEnd({ action, onCancel, cancel = 'Cancel', danger = false, children }: FormEndProps) {
  return (
    <>
      {action.error !== null && <Note kind="error">{action.error}</Note>}
      <div class="actions">
        <button type="button" onClick={onCancel}>
          {cancel}
        </button>
        <button type="submit" class={danger ? 'danger primary' : 'primary'} disabled={action.busy}>
          {children}
        </button>
      </div>
    </>
  );
}
