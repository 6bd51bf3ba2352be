/**
 * The one rule by which device names are compared, at every door and in every look-up (CONTRACT 6). An EUI (16
 * hexadecimal digits) or a Particle core id (24) is compared by its digits in lower case, however it is written (case,
 * `-`, `:`, `.`, blanks, `0x`); any other serial number exactly. The source text also runs inside decoders: it uses its
 * parameter and the language alone, no built-in that a decoder may have changed.
 */
export function deviceIdentity(name: string): string {
  const { length } = name;
  if (length < 16) return name;
  const isBlank = (character: string): boolean => {
    const blanks = ' \t\n\v\f\r\u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff';
    for (let nth = 0; nth < blanks.length; nth += 1) if (blanks[nth] === character) return true;
    return character >= '\u2000' && character <= '\u200a';
  };
  const lower: Record<string, string> = { A: 'a', B: 'b', C: 'c', D: 'd', E: 'e', F: 'f' };
  let at = 0;
  while (at < length && isBlank(name[at]!)) at += 1;
  if (name[at] === '0' && (name[at + 1] === 'x' || name[at + 1] === 'X')) at += 2;
  // Copy nothing of a name that is already written as it is compared.
  let [digits, count, isBare] = ['', 0, at === 0];
  for (; at < length; at += 1) {
    let character = name[at]!;
    const isUpper = character >= 'A' && character <= 'F';
    if (isUpper) character = lower[character]!;
    const isDigit = (character >= '0' && character <= '9') || (character >= 'a' && character <= 'f');
    if (isBare && (isUpper || !isDigit)) {
      isBare = false;
      for (let before = 0; before < at; before += 1) digits += name[before]!;
    }
    if (isDigit) {
      if ((count += 1) > 24) return name;
      if (!isBare) digits += character;
    } else if (character !== '-' && character !== ':' && character !== '.' && !isBlank(character)) return name;
  }
  if (count !== 16 && count !== 24) return name;
  return isBare ? name : digits;
}

/** True for the identity of an EUI or core id, which belongs to one device of a workspace. */
export function isNetworkIdentity(identity: string): boolean {
  return /^(?:[0-9a-f]{16}|[0-9a-f]{24})$/.test(identity);
}

/** The digits of an EUI or core id, or of a part of one (`81-C0-DE`), in lower case; null for other texts. */
export function bareDigits(text: string): string | null {
  const identity = deviceIdentity(text);
  if (isNetworkIdentity(identity)) return identity;
  const isPart = /^\s*[0-9a-f]{2}(?:[-:.\s]?[0-9a-f]{2})+\s*$/i.test(text);
  return isPart ? text.toLowerCase().replace(/[-:.\s]/g, '') : null;
}
