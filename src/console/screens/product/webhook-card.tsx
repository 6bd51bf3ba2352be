import { useState } from 'preact/hooks';
import { request } from '../../api/request.ts';
import { useAction } from '../../api/use-action.ts';
import { CopyText } from '../../parts/copy-text.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Note } from '../../parts/note.tsx';
import { toast } from '../../parts/toasts.tsx';
import { RotateWebhook } from './product.graphql.ts';
import { t } from '../../texts/texts.ts';

interface WebhookCardProps {
  productId: string;
  url: string;
  onChanged: () => Promise<void>;
}

/** The secret address of a product, to be copied, and replaced once strangers know it. */
export function WebhookCard({ productId, url, onChanged }: WebhookCardProps) {
  const [isAsking, setAsking] = useState(false);
  const rotating = useAction(async () => {
    await request(RotateWebhook, { productId });
    toast(t('The old address is unknown from now on.'));
    setAsking(false);
    await onChanged();
  });
  return (
    <section class="card" aria-labelledby="webhook-title">
      <div class="card-head">
        <h2 id="webhook-title" class="grow">
          Webhook
        </h2>
        <button type="button" onClick={() => setAsking(true)}>
          New address
        </button>
      </div>
      <div class="stack inside">
        <CopyText label="the webhook address" text={url} />
        <p class="hint">
          Whatever is sent there by GET or POST is logged and given to the decoder. Who knows the address can send.
        </p>
      </div>
      {isAsking && (
        <Dialog title="Give it a new address?" onClose={() => setAsking(false)}>
          <p>The present one is unknown at once: whoever sends there gets 404 until told the new one.</p>
          {rotating.error !== null && <Note kind="error">{rotating.error}</Note>}
          <div class="actions">
            <button type="button" onClick={() => setAsking(false)}>
              Keep it
            </button>
            <button type="button" class="danger primary" disabled={rotating.busy} onClick={() => void rotating.run()}>
              New address
            </button>
          </div>
        </Dialog>
      )}
    </section>
  );
}
