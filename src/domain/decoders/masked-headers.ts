import type { HeaderList } from './header-names.ts';

/** Replaces a credential in the call log. */
export const MASK = '***';

const CREDENTIAL =
  /authori[sz]ation|authenticat|cookie|token|secret|passw|credential|signature|session|bearer|oauth|oidc|client-cert|(?:^|-)(?:auth|jwt|hmac|otp|pin|pwd|sid|sig|dpop)(?:-|$)|csrf|xsrf|api-?key|access-?key|(?:^|-)key$/i;
const HARMLESS = new Set(['Idempotency-Key', 'Sec-Websocket-Key']);
const MAX_KNOWN = 1_000;
const known = new Map<string, boolean>();

/** True when a header's value must not be logged: credentials by their usual names, and by patterns in names. */
export function isCredential(name: string): boolean {
  let credential = known.get(name);
  if (credential === undefined) {
    credential = CREDENTIAL.test(name) && !HARMLESS.has(name);
    if (known.size < MAX_KNOWN) known.set(name, credential);
  }
  return credential;
}

/** The headers as JSON text for the call log: name → value. */
export function maskedHeaders(headers: HeaderList): string {
  let text = '';
  for (const [name, value] of headers)
    text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${isCredential(name) ? `"${MASK}"` : JSON.stringify(value)}`;
  return `{${text}}`;
}
