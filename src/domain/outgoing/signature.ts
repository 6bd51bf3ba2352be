import { createHmac, randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** A new secret of Standard Webhooks 1.0: 256 random bits. */
export function newWebhookSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/** The three headers of Standard Webhooks 1.0 for a try at `at` (ms UTC), with a signature by each secret. */
export function signatureHeaders(
  messageId: string,
  at: number,
  body: string,
  secrets: readonly string[],
): Record<string, string> {
  const seconds = Math.floor(at / 1000);
  const signed = `${messageId}.${seconds}.${body}`;
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
  });
  return {
    'webhook-id': messageId,
    'webhook-timestamp': String(seconds),
    'webhook-signature': signatures.join(' '),
  };
}
