/** 8 bytes in base64, as ChirpStack v3 writes an EUI. */
const BASE64_EUI = /^[A-Za-z0-9+/_-]{11}=$/;

/** The identifier itself; an EUI in base64 as its 16 hexadecimal digits. */
export function readableEui(identifier: string): string {
  return BASE64_EUI.test(identifier) ? Buffer.from(identifier, 'base64').toString('hex') : identifier;
}
