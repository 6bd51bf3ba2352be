/** An EUI (8 bytes) or a core id (12 bytes) in hexadecimal. */
const HEXADECIMAL_ID = /^(?:[0-9a-f]{16}|[0-9a-f]{24})$/;
/** 8 bytes in base64, as ChirpStack v3 writes an EUI. */
const BASE64_EUI = /^[A-Za-z0-9+/_-]{11}=$/;

/**
 * What identifiers are compared by, however they are written (CONTRACT 6): lower case; an EUI or core id also without
 * `0x`, dashes, colons, dots and blanks.
 */
export function networkIdentity(identifier: string): string {
  const folded = identifier.trim().toLowerCase();
  const bare = folded.replace(/^0x/, '').replace(/[-:.\s]/g, '');
  return HEXADECIMAL_ID.test(bare) ? bare : folded;
}

/** The identifier itself; an EUI in base64 as its 16 hexadecimal digits. */
export function readableEui(identifier: string): string {
  return BASE64_EUI.test(identifier) ? Buffer.from(identifier, 'base64').toString('hex') : identifier;
}
