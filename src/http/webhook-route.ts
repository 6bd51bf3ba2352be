import { WEBHOOK_ROOT } from '../domain/decoders/decoder-request.ts';
import type { WebhookReceiver } from '../domain/calls/webhook-receiver.ts';
import { readBody } from './body.ts';
import { decoderRequestOf, respondToCall, splitUrl } from './decoder-call.ts';
import type { BareHandler } from './ingest-routes.ts';
import { requireMethod } from './require-method.ts';

interface WebhookRouteDeps {
  receiver: WebhookReceiver;
  maxBodyBytes: number;
}

/** `GET` or `POST /integrations/api/<product_webhook_id>/…` (CONTRACT 4). */
export function webhookRoute({ receiver, maxBodyBytes }: WebhookRouteDeps): BareHandler {
  return async (request, response) => {
    requireMethod(request.method, ['GET', 'POST']);
    const { path, query } = splitUrl(request.url ?? '', WEBHOOK_ROOT);
    const id = path.slice(WEBHOOK_ROOT.length).split('/', 1)[0] ?? '';
    await receiver.productOf(id);
    const body = await readBody(request, maxBodyBytes);
    // The id may have been rotated while the body came in.
    const product = await receiver.productOf(id);
    const answer = await receiver.receive(product, decoderRequestOf(request, path, query, body));
    respondToCall(response, answer);
  };
}
