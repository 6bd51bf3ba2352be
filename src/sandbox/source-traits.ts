/** What a look at a source's text tells about how it must be run. Errs on the careful side: only speed depends on it. */
export interface SourceTraits {
  /** It may touch `deviceSerialToId` or `measurements`. */
  usesLookups: boolean;
  /** It may tell a script from a function body (top-level `var` as properties of the global, code made of text). */
  needsScript: boolean;
}

// The last: V8 forgets the line offset of a function whose source names itself.
const REFLECTIVE = /\b(?:globalThis|this|eval|Function|constructor)\b|\\u|\\x|sourceURL=/;
const OWN_GLOBALS =
  'console|atob|btoa|TextEncoder|TextDecoder|__base64decode|deviceSerialToId|measurements|rawPayload|normalizedPayload|' +
  'JSON|Math|Date|Object|Array|String|Number|Boolean|RegExp|Error|Map|Set|Promise|Symbol|BigInt|Uint8Array|undefined|' +
  'parseInt|parseFloat|isNaN|isFinite|escape|unescape|Buffer|module|exports';
// `var console = console || …` means the global one in a script, and an undefined one in a function.
const REDECLARES = new RegExp(
  `(?:\\bvar\\s+|,\\s*)(?:${OWN_GLOBALS})\\s*(?:=(?!=)|;|,|\\bin\\b|\\bof\\b|\\n)|\\bfunction\\s+(?:${OWN_GLOBALS})\\s*\\(`,
);

export function readTraits(source: string): SourceTraits {
  const reflective = REFLECTIVE.test(source);
  return {
    usesLookups: reflective || source.includes('deviceSerialToId') || source.includes('measurements'),
    needsScript: reflective || REDECLARES.test(source),
  };
}
