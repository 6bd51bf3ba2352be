import type { TransmissionResult, Transmitter } from '../ports/transmitter.ts';
import type { DeliveryAttempt } from './delivery-rows.ts';
import type { Target } from './delivery-exchange.ts';
import { must } from '../../must.ts';
import { alertsUrl, managedAlerts } from './alertmanager.ts';
import { mailOf } from './mail-text.ts';
import { signatureHeaders } from './signature.ts';

/** A message on its way to one endpoint. */
export interface Message {
  messageId: string;
  type: string;
  body: string;
}

/** What a try came to, and what is kept of it. */
export interface Tried {
  result: TransmissionResult;
  attempt: DeliveryAttempt;
}

const GONE = 410;

/** Sends a message to the endpoint, once; never rejects. `now`: ms UTC. */
export async function transmit(
  transmitter: Transmitter,
  target: Target,
  message: Message,
  now: () => number,
): Promise<Tried> {
  const at = now();
  const began = performance.now();
  const result = await send(transmitter, target, message, at);
  const { httpStatus, error, answer } = result;
  const durationMs = Math.round((performance.now() - began) * 10) / 10;
  return { result, attempt: { at, httpStatus, error, durationMs, answer } };
}

/** True when the receiver says that there will never be anybody. */
export function isGone({ httpStatus }: TransmissionResult): boolean {
  return httpStatus === GONE;
}

async function send(
  transmitter: Transmitter,
  { kind, url, addresses, secrets }: Target,
  { messageId, body }: Message,
  at: number,
): Promise<TransmissionResult> {
  if (kind === 'EMAIL') return transmitter.mail({ to: addresses ?? [], messageId, ...mailOf(body) });
  const to = must(url);
  if (kind === 'WEBHOOK')
    return transmitter.post({ url: to, headers: signatureHeaders(messageId, at, body, secrets), body });
  const alerts = [...managedAlerts(body, at).values()];
  return transmitter.post({ url: alertsUrl(to), headers: {}, body: JSON.stringify(alerts) });
}
