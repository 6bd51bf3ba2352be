import type { NetworkReceiver } from '../domain/receiving/network-receiver.ts';
import { networkOfPath } from '../domain/networks/network-call.ts';
import { NETWORKS } from '../domain/networks/network-event.ts';
import type { Answer } from '../domain/receiving/webhook-receiver.ts';
import type { Access } from '../domain/access/access.ts';
import type { Authenticator } from '../domain/accounts/authenticator.ts';
import { AppError } from '../errors.ts';
import type { InvalidInputThrottle } from '../scheduling/invalid-input-throttle.ts';
import { runAs } from '../scheduling/current-caller.ts';
import type { AnonymousRequests } from './anonymous-requests.ts';
import { authenticate } from './authenticate.ts';
import { type BodyBounds, isSenderGone, readBody } from './body.ts';
import { bytesOfHead, callInVain, decoderRequestOf, respondToCall, splitUrl } from './decoder-call.ts';
import type { TokenHandler } from './routes.ts';

/** Bytes of a call that may surround its values: fifty gateways that heard a message take 40 KB. */
const BESIDE_VALUES = 65_536;

interface IntegrationRouteDeps {
  authenticator: Authenticator;
  anonymous: AnonymousRequests;
  receiver: NetworkReceiver;
  bounds: BodyBounds;
  refused: InvalidInputThrottle;
}

/** `POST /integrations/lorawan/<network>/` and `POST /integrations/particle/` (CONTRACT 6). */
export function networkRoute(deps: IntegrationRouteDeps): TokenHandler {
  const { receiver, bounds, refused } = deps;
  return async (context, { tenant, tokenId: source }) => {
    const { req: request, res: response } = context;
    const { path, query } = splitUrl(request.url ?? '', '/integrations/');
    const network = networkOfPath(path);
    if (network === null)
      throw new AppError('NOT_FOUND', `There is no such network; there are ${NETWORKS.join(', ')}.`);
    const body = await readBody(request, bounds, { tenant, tokenId: source });
    // Asks again: the token may have been revoked while the body came in.
    const whose = (): Promise<Access> => authenticate(request, deps);
    const receive = (): Promise<Answer> =>
      receiver.receive(whose, network, decoderRequestOf(request, path, query, body));
    const head = bytesOfHead(request);
    const sent = { tenant, source, bytes: body.length + head, isAbandoned: (): boolean => isSenderGone(request) };
    const answer = await runAs({ tenant, tokenId: source }, () =>
      refused.run(sent, receive, (given) => callInVain(given, body.length, head, BESIDE_VALUES)),
    );
    context.respond = false;
    respondToCall(response, answer);
  };
}
