import { useState } from 'preact/hooks';
import { request } from '../../api/request.ts';
import { useAction } from '../../api/use-action.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { FormEnd } from '../../parts/form-end.tsx';
import { onSubmit, textsOf } from '../../parts/form-texts.ts';
import { readLocalTime } from '../../time/local-time.ts';
import { toast } from '../../parts/toasts.tsx';
import { RetryDeliveries } from './endpoints.graphql.ts';
import { counted, t } from '../../texts/texts.ts';
import { countText } from '../../texts/count-text.ts';

interface RetrySheetProps {
  endpointId: string;
  onClose: () => void;
  onDone: () => void;
}

/** Sends deliveries that were given up again: first counts them, then sends those. */
export function RetrySheet({ endpointId, onClose, onDone }: RetrySheetProps) {
  const [found, setFound] = useState<{ count: number; from: string | null; to: string | null } | null>(null);
  const work = useAction(async (form: HTMLFormElement) => {
    if (found !== null) {
      const { from, to } = found;
      const { retryDeliveries } = await request(RetryDeliveries, { endpointId, from, to });
      toast(counted(retryDeliveries, '{count} delivery sent again.', '{count} deliveries sent again.'));
      onDone();
      onClose();
      return;
    }
    const text = textsOf(form);
    const range = { from: readLocalTime(text('from')), to: readLocalTime(text('to')) };
    const { retryDeliveries } = await request(RetryDeliveries, { endpointId, ...range, dryRun: true });
    setFound({ count: retryDeliveries, ...range });
  });
  return (
    <Dialog title="Send again what was given up" onClose={onClose}>
      <form class="stack" onSubmit={onSubmit(work.run)}>
        <label>
          Queued since
          <input name="from" type="datetime-local" onInput={() => setFound(null)} />
        </label>
        <label>
          Queued before
          <input name="to" type="datetime-local" onInput={() => setFound(null)} />
          <small>Both left out: all that was given up, at most the oldest 10,000.</small>
        </label>
        <p role="status">
          {found !== null &&
            (found.count === 0
              ? t('Nothing was given up in that time.')
              : counted(
                  found.count,
                  '{count} delivery would be sent again. Its tries begin anew.',
                  '{count} deliveries would be sent again. Their tries begin anew.',
                ))}
        </p>
        <FormEnd action={{ ...work, busy: work.busy || found?.count === 0 }} onCancel={onClose}>
          {found === null || found.count === 0 ? 'Count them' : `Send ${countText(found.count)} again`}
        </FormEnd>
      </form>
    </Dialog>
  );
}
