import { configurationVariables } from '../ingest-cache/device-configuration.ts';
import type { DeviceInfo } from '../ingest-cache/ingest-cache.ts';
import type { CallStatus } from '../ports/store.ts';
import { frameDigest } from '../networks/frame.ts';
import { eventInput, uplinkInput } from '../networks/network-call.ts';
import type { NetworkEvent } from '../networks/network-event.ts';
import { networkTime } from '../times/network-time.ts';
import { asksForEvents } from './check-source.ts';
import type { DecoderEntryPoint, DecoderResult } from './decoder-engine.ts';

/**
 * The part of a network's message that its run and judgement need: keeping the parsed message would take far more
 * memory.
 */
interface MessageToRun {
  /** The network's name of the device. */
  identifier: string;
  /** The network's time, in ms UTC; null: none that is plausible. */
  time: number | null;
  entryPoint: DecoderEntryPoint;
  /** JSON text for the decoder; '': it does not get this message. */
  input: string;
  /** The values when no decoder takes the message; null: none. */
  decoded: DecoderResult | null;
  /** Outcome of the call when nothing takes the message, with the reason. */
  otherwise: { status: CallStatus; reason: string };
  /** See `frameDigest`. */
  frame: string | null;
}

const NO_DECODER =
  'The product has no decoder, and the network has decoded nothing: save a decoder, then replay the call.';
const NO_PAYLOAD = 'The uplink has no payload (only MAC commands).';

/**
 * The part of a network's message to run. `source`: the product's decoder, or null. `variables`: in place of the
 * device's configuration.
 */
export function messageToRun(
  event: NetworkEvent,
  source: string | null,
  receivedAt: number,
  device: DeviceInfo | null,
  given: Record<string, string> | undefined,
): MessageToRun {
  const { uplink, other } = event;
  const identifier = event.deviceIdentifier ?? '';
  const variables = given ?? (device === null ? {} : configurationVariables(device));
  const asks = source !== null && asksForEvents(source);
  if (uplink === null) {
    const { type = 'unknown', decoded = null } = other ?? {};
    const time = networkTime({ server: [other?.time ?? null], gateways: [] }, receivedAt);
    const reason = `The network's event "${type.slice(0, 100)}": no decodeEvent({type, event}) of a decoder asks for it.`;
    return {
      identifier,
      time,
      entryPoint: 'event',
      input: asks && other !== null ? eventInput(event, { ...other, time }, receivedAt, variables) : '',
      decoded: decoded === null ? null : decodedByNetwork(decoded),
      otherwise: { status: 'NOTHING_STORED', reason },
      frame: null,
    };
  }
  const { times, carriesPayload, content, decoded } = uplink;
  const isLeft = decoded !== null && (source === null || asks);
  return {
    identifier,
    time: networkTime(times, receivedAt),
    entryPoint: content.kind,
    input: source !== null && carriesPayload ? uplinkInput(event, receivedAt, variables) : '',
    decoded: isLeft && (source === null || carriesPayload) ? decodedByNetwork(decoded) : null,
    otherwise:
      source === null && carriesPayload
        ? { status: 'NO_DECODER', reason: NO_DECODER }
        : { status: 'NOTHING_STORED', reason: NO_PAYLOAD },
    frame: frameDigest(event),
  };
}

/** The network's own decoding, in the shape of a run's result. */
function decodedByNetwork(decoded: unknown): DecoderResult {
  return { output: JSON.stringify(decoded), value: decoded, console: [], error: null, durationMs: 0 };
}
