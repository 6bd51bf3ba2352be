import { randomBytes } from 'node:crypto';

/** 24 base64url characters, 142 random bits: the secret in a product's webhook URL. Never begins with `-` or `_`. */
export function newWebhookId(): string {
  for (;;) {
    const id = randomBytes(18).toString('base64url');
    if (/^[A-Za-z0-9]/.test(id)) return id;
  }
}
