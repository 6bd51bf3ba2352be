import { useMemo, useState } from 'preact/hooks';
import type { DeliveryStatus } from '../../api/schema-types.ts';
import { request } from '../../api/request.ts';
import { useStore } from '../../api/store.ts';
import { useAction } from '../../api/use-action.ts';
import { href, navigate, setParameters, usePlace } from '../../navigation/place.ts';
import type { ScreenProps } from '../../navigation/routes.ts';
import { useTitle } from '../../navigation/use-title.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Menu } from '../../parts/menu.tsx';
import { Note } from '../../parts/note.tsx';
import { toast } from '../../parts/toasts.tsx';
import { may, workspaceId } from '../../session/session.ts';
import { WorkspaceCrumb } from '../../session/workspace-crumb.tsx';
import { answerOf, DeliveryRow } from './delivery-row.tsx';
import { EndpointSheet } from './endpoint-sheet.tsx';
import { EndpointState } from './endpoint-state.tsx';
import { DELIVERY_STATES, eventWords, KINDS } from './endpoint-words.ts';
import { DeleteEndpoint, RetryDeliveries, RotateEndpointSecret, TestEndpoint } from './endpoints.graphql.ts';
import { RetrySheet } from './retry-sheet.tsx';
import { SecretDialog } from './secret-dialog.tsx';
import { useDeliveries } from './use-deliveries.ts';
import './endpoints.css';
import { t } from '../../texts/texts.ts';

const STATES = Object.keys(DELIVERY_STATES) as DeliveryStatus[];

/** The screen of one endpoint: what was sent to it, live, and the ways to correct it. */
export function EndpointScreen({ params }: ScreenProps) {
  const id = params['id'] ?? '';
  const workspace = useStore(workspaceId);
  const { query } = usePlace();
  const named = query.get('status') ?? '';
  const states = useMemo(() => STATES.filter((status) => named.split(',').includes(status)), [named]);
  const mayChange = may('CONFIGURE');
  const shown = useDeliveries(workspace, id, states, mayChange);
  const { endpoint, deliveries, isBusy, error, older, put, refetch } = shown;
  const [sheet, setSheet] = useState<'edit' | 'retry' | 'delete' | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  useTitle(endpoint?.name ?? null);
  const testing = useAction(async () => {
    const { testEndpoint } = await request(TestEndpoint, { id });
    put(testEndpoint);
    const last = testEndpoint.attempts.at(-1);
    toast(last === undefined ? t('Sent.') : t('The sample: {answerOf}.', { answerOf: answerOf(last) }));
  });
  const rotating = useAction(async () => {
    setSecret((await request(RotateEndpointSecret, { id })).rotateEndpointSecret.secret);
  });
  const deleting = useAction(async () => {
    await request(DeleteEndpoint, { id });
    navigate(href('/endpoints'), { replace: true });
  });
  const retrying = useAction(async (deliveryId: string) => {
    await request(RetryDeliveries, { endpointId: id, deliveryIds: [deliveryId] });
    toast(t('It is sent again.'));
  });
  const close = (): void => setSheet(null);
  const failure = [error, testing.error, rotating.error, retrying.error].find((one) => one !== null);
  return (
    <main class="page endpoints-page">
      <div class="page-head">
        <div class="grow">
          <nav class="crumbs" aria-label="Where this is">
            <WorkspaceCrumb />
            <a href={href('/endpoints')}>Endpoints</a>
          </nav>
          <h1>{endpoint?.name ?? '…'}</h1>
        </div>
        {endpoint !== null && mayChange && (
          <>
            <button type="button" disabled={testing.busy} onClick={() => void testing.run()}>
              Send a sample
            </button>
            <button type="button" onClick={() => setSheet('retry')}>
              Send again…
            </button>
            <Menu label="More" button={<Icon name="more" />} class="boxed">
              <button type="button" onClick={() => setSheet('edit')}>
                <Icon name="pencil" /> Change
              </button>
              {endpoint.kind === 'WEBHOOK' && (
                <button type="button" onClick={() => void rotating.run()}>
                  <Icon name="key" /> Another secret
                </button>
              )}
              <button type="button" class="danger" onClick={() => setSheet('delete')}>
                <Icon name="trash" /> Delete
              </button>
            </Menu>
          </>
        )}
      </div>
      {failure != null && <Note kind="error">{failure}</Note>}
      {endpoint === null && !isBusy && error === null && <Note>The workspace has no such endpoint.</Note>}
      {endpoint !== null && (
        <div class="row">
          <EndpointState endpoint={endpoint} />
          <span class="chip">{KINDS[endpoint.kind]}</span>
          {(endpoint.url ?? endpoint.addresses) != null && (
            <span class="mono endpoint-where">{endpoint.url ?? endpoint.addresses?.join(', ')}</span>
          )}
          <small>{eventWords(endpoint.events)}</small>
        </div>
      )}
      <section class="card" aria-label="Deliveries" aria-busy={isBusy}>
        <div class="card-head">
          <h2 class="grow">Deliveries</h2>
          <div class="row" role="group" aria-label="State">
            {STATES.map((status) => (
              <button
                key={status}
                type="button"
                class="toggle"
                aria-pressed={states.includes(status)}
                onClick={() =>
                  setParameters({
                    status: STATES.filter((one) => (one === status) !== states.includes(one)).join(','),
                  })
                }
              >
                {DELIVERY_STATES[status]}
              </button>
            ))}
          </div>
        </div>
        {deliveries.length === 0 && (
          <p class="hint nothing">
            {isBusy ? 'Looking…' : states.length > 0 ? 'None is like that.' : 'Nothing has been sent yet.'}
          </p>
        )}
        <ol class="deliveries">
          {deliveries.map((delivery) => (
            <DeliveryRow
              key={delivery.id}
              delivery={delivery}
              onRetry={mayChange ? () => void retrying.run(delivery.id) : undefined}
            />
          ))}
        </ol>
        {older !== null && (
          <div class="row nothing">
            <button type="button" disabled={isBusy} onClick={older}>
              Older
            </button>
          </div>
        )}
      </section>
      {endpoint !== null && sheet === 'edit' && (
        <EndpointSheet endpoint={endpoint} onClose={close} onSaved={() => void refetch()} />
      )}
      {sheet === 'retry' && <RetrySheet endpointId={id} onClose={close} onDone={() => void refetch()} />}
      {secret !== null && <SecretDialog secret={secret} isRotated onClose={() => setSecret(null)} />}
      {endpoint !== null && sheet === 'delete' && (
        <Dialog title={`Delete “${endpoint.name}”?`} onClose={close}>
          <p>
            What waits to be sent goes with it. One that a rule names stays until the rule names it no longer. This
            cannot be undone.
          </p>
          {deleting.error !== null && <Note kind="error">{deleting.error}</Note>}
          <div class="actions">
            <button type="button" onClick={close}>
              Cancel
            </button>
            <button type="button" class="danger primary" disabled={deleting.busy} onClick={() => void deleting.run()}>
              Delete endpoint
            </button>
          </div>
        </Dialog>
      )}
    </main>
  );
}
