import type { ComponentChildren } from 'preact';
import { Note } from './note.tsx';
import { t } from '../texts/texts.ts';

interface FormEndProps {
  /** State of the form's action: in progress, and its last failure. */
  action: { busy: boolean; error: string | null };
  /** Closes the form, as Escape does. */
  onCancel: () => void;
  /** Name of the cancel button. */
  cancel?: string;
  /** True when it deletes something for good. */
  danger?: boolean;
  /** Name of the submit button. */
  children: ComponentChildren;
}

/** The last rows of a form: its failure, and the submit button. */
export function FormEnd({ action, onCancel, cancel = t('Cancel'), danger = false, children }: FormEndProps) {
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
