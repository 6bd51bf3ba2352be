import { PATHS } from '../domain/access/path-rights.ts';
import { WEBHOOK_ROOT } from '../domain/decoders/decoder-request.ts';
import type { Answer, Recipient, WebhookReceiver } from '../domain/receiving/webhook-receiver.ts';
import type { InvalidInputThrottle } from '../scheduling/invalid-input-throttle.ts';
import { anonymousAt } from '../scheduling/caller.ts';
import { runAs } from '../scheduling/current-caller.ts';
import type { AnonymousRequests } from './anonymous-requests.ts';
import { type BodyBounds, isSenderGone, readBody } from './body.ts';
import { bytesOfHead, callInVain, decoderRequestOf, respondToCall, splitUrl } from './decoder-call.ts';
import type { BareHandler } from './ingest-routes.ts';
import { requireMethod } from './require.ts';

/** Bytes of a call that may surround its values: cameras send 200 KB, and a decoder makes one value of it. */
const BESIDE_VALUES = 262_144;

interface WebhookRouteDeps {
  receiver: WebhookReceiver;
  anonymous: AnonymousRequests;
  bounds: BodyBounds;
  refused: InvalidInputThrottle;
}

/** `GET` or `POST /integrations/api/<product_webhook_id>/…` (CONTRACT 4). */
export function webhookRoute({ receiver, anonymous, bounds, refused }: WebhookRouteDeps): BareHandler {
  return async (request, response) => {
    requireMethod(request.method, PATHS['/integrations/api/:webhook'].methods);
    // An answer from a cache would lose the call.
    if (request.method === 'GET') response.setHeader('Cache-Control', 'no-store');
    const { path, query } = splitUrl(request.url ?? '', WEBHOOK_ROOT);
    const id = path.slice(WEBHOOK_ROOT.length).split('/', 1)[0] ?? '';
    const find = async (): Promise<Recipient> => ({ product: await receiver.productOf(id) });
    // Looking up unknown ids costs something.
    const known = receiver.knows(id);
    const stranger = anonymousAt(anonymous.addressOf(request));
    const found = known ? find() : anonymous.during(request, () => runAs(stranger, find));
    const { id: source, workspaceId: tenant } = (await found).product;
    const body = await readBody(request, bounds, { tenant, tokenId: source });
    // Asks again: the id may have been rotated while the body came in.
    const receive = (): Promise<Answer> => receiver.receive(find, decoderRequestOf(request, path, query, body));
    const head = bytesOfHead(request);
    const sent = { tenant, source, bytes: body.length + head, isAbandoned: (): boolean => isSenderGone(request) };
    const answer = await runAs({ tenant, tokenId: source }, () =>
      refused.run(sent, receive, (given) => callInVain(given, body.length, head, BESIDE_VALUES)),
    );
    respondToCall(response, answer);
  };
}
