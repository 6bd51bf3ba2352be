import type { NetworkReceiver } from '../domain/calls/network-receiver.ts';
import { networkOfPath } from '../domain/networks/network-call.ts';
import { NETWORKS } from '../domain/networks/network-event.ts';
import type { Authenticator } from '../domain/tokens/authenticator.ts';
import { AppError } from '../errors.ts';
import { authenticate } from './authenticate.ts';
import { readBody } from './body.ts';
import { decoderRequestOf, respondToCall, splitUrl } from './decoder-call.ts';
import { type Handler, only } from './http-app.ts';

interface IntegrationRouteDeps {
  authenticator: Authenticator;
  receiver: NetworkReceiver;
  maxBodyBytes: number;
}

/** `POST /integrations/lorawan/<network>/` and `POST /integrations/particle/` (CONTRACT 6). */
export function networkRoute({ authenticator, receiver, maxBodyBytes }: IntegrationRouteDeps): Handler {
  return only(['POST'], async (context) => {
    const { req: request, res: response } = context;
    const { path, query } = splitUrl(request.url ?? '', '/integrations/');
    const network = networkOfPath(path);
    if (network === null)
      throw new AppError('NOT_FOUND', `There is no such network; there are ${NETWORKS.join(', ')}.`);
    await authenticate(request, authenticator);
    const body = await readBody(request, maxBodyBytes);
    // The token may have been revoked while the body came in.
    const access = await authenticate(request, authenticator);
    const answer = await receiver.receive(access, network, decoderRequestOf(request, path, query, body));
    context.respond = false;
    respondToCall(response, answer);
  });
}
