import { ShownOnce } from '../../parts/shown-once.tsx';

interface SecretDialogProps {
  secret: string;
  /** True where the one before signs for another day. */
  isRotated?: boolean;
  onClose: () => void;
}

/** Shows the secret of a webhook, this once. */
export function SecretDialog({ secret, isRotated = false, onClose }: SecretDialogProps) {
  return (
    <ShownOnce title="The secret of the endpoint" label="the secret" text={secret} onClose={onClose}>
      <p>
        It is shown this once. Each call is signed with it (Standard Webhooks), so that its receiver can tell it from
        others.
      </p>
      {isRotated && <p>For a day the secret before it signs as well.</p>}
    </ShownOnce>
  );
}
