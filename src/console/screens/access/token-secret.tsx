import { CopyText } from '../../parts/copy-text.tsx';
import { Dialog } from '../../parts/dialog.tsx';

/** Shows the secret of a token, this once. */
export function TokenSecret({ secret, onClose }: { secret: string; onClose: () => void }) {
  return (
    <Dialog title="The token" onClose={onClose}>
      <CopyText label="the token" text={secret} />
      <p>It is shown this once. Present it as</p>
      <CopyText label="the header" text={`Authorization: Token ${secret}`} />
      <div class="actions">
        <button type="button" class="primary" onClick={onClose}>
          I have it
        </button>
      </div>
    </Dialog>
  );
}
