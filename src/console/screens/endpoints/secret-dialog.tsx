import { CopyText } from '../../parts/copy-text.tsx';
import { Dialog } from '../../parts/dialog.tsx';

interface SecretDialogProps {
  secret: string;
  /** True where the one before signs for another day. */
  isRotated?: boolean;
  onClose: () => void;
}

/** Shows the secret of a webhook, this once. */
export function SecretDialog({ secret, isRotated = false, onClose }: SecretDialogProps) {
  return (
    <Dialog title="The secret of the endpoint" onClose={onClose}>
      <CopyText label="the secret" text={secret} />
      <p>
        It is shown this once. Each call is signed with it (Standard Webhooks), so that its receiver can tell it from
        others.
      </p>
      {isRotated && <p>For a day the secret before it signs as well.</p>}
      <div class="actions">
        <button type="button" class="primary" onClick={onClose}>
          I have it
        </button>
      </div>
    </Dialog>
  );
}
