import { networkOfBody, pathOfNetwork } from '../networks/network-call.ts';
import type { ProductInfo } from '../ingest-cache/ingest-cache.ts';
import { type DecoderRequest, type DecoderRequestInput, requestOfInput } from './decoder-request.ts';

/**
 * The request that a person typed; without a path, the keys of a LORAWAN or PARTICLE product's message show its
 * network.
 */
export function typedRequest(product: ProductInfo, input: DecoderRequestInput): DecoderRequest {
  const network = product.deviceType === 'API' || input.path ? null : networkOfBody(input.body ?? '');
  return requestOfInput(network === null ? input : { ...input, path: pathOfNetwork(network) }, product.webhookId);
}
