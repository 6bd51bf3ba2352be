import { must } from '../must.ts';

/** Traits of a source's text that say how to run it. They err on the careful side: only speed depends on them. */
export interface SourceTraits {
  /** May touch `deviceSerialToId`, `measurements` or `configurationValues`. */
  usesLookups: boolean;
  /** May tell a script from a function body (top-level `var` as properties of the global, code made of text). */
  needsScript: boolean;
}

/** Code made of text, and last sources that name themselves, for which V8 forgets a function's line offset. */
const DYNAMIC = /\b(?:eval|Function)\b|\.constructor\b|['"`]constructor\b|sourceURL=/;
/** The global object as a whole, under another name or with a computed key, but not `this.name` and `this && …`. */
const WHOLE_GLOBAL = /\bglobalThis\b(?!\s*\.)|\bthis\b(?!\s*(?:\.|&&))/;
const GLOBAL_NAME = /\b(?:this|globalThis)\s*\.\s*([A-Za-z_$][\w$]*)/g;
/** Names declared by `var` or `function`, and names that may be in a list of declarations or a pattern. */
const DECLARED_NAME = /\b(?:var\s+|function(?:\s+|\s*\*\s*))([A-Za-z_$][\w$]*)/g;
const LISTED_NAME = /[,{[]\s*([A-Za-z_$][\w$]*)(?=\s*[=,;}\]])/g;
const LOOK_UPS = /deviceSerialToId|measurements|configurationValues/;
const OWN_GLOBALS =
  'console|atob|btoa|TextEncoder|TextDecoder|__base64decode|deviceSerialToId|measurements|configurationValues|rawPayload|normalizedPayload|' +
  'JSON|Math|Date|Object|Array|String|Number|Boolean|RegExp|Error|Map|Set|Promise|Symbol|BigInt|Uint8Array|undefined|' +
  'parseInt|parseFloat|isNaN|isFinite|escape|unescape|Buffer|module|exports';
// `var console = console || …` means the global one in a script, and an undefined one in a function.
const REDECLARES = new RegExp(
  `(?:\\bvar\\s+|,\\s*)(?:${OWN_GLOBALS})\\s*(?:=(?!=)|;|,|\\bin\\b|\\bof\\b|\\n)|\\bfunction\\s+(?:${OWN_GLOBALS})\\s*\\(`,
);

/** The traits of a source text, in time proportional to its length. */
export function readTraits(source: string): SourceTraits {
  const reflective = DYNAMIC.test(source) || WHOLE_GLOBAL.test(source);
  return {
    usesLookups: reflective || LOOK_UPS.test(source),
    needsScript: reflective || REDECLARES.test(source) || readsDeclaredGlobals(source),
  };
}

/** Number of lines as JavaScript ends them, counted without splitting, as a source may have hundreds of thousands. */
export function countLines(source: string): number {
  let lines = 1;
  for (let at = 0; at < source.length; at += 1) {
    const unit = source.charCodeAt(at);
    const isEnd = unit === 10 || unit === 13 || unit === 0x2028 || unit === 0x2029;
    if (isEnd && !(unit === 13 && source.charCodeAt(at + 1) === 10)) lines += 1;
  }
  return lines;
}

/** Whether `this.x` may read a declared `var x`, as it does in a script only. */
function readsDeclaredGlobals(source: string): boolean {
  const names = new Set<string>();
  for (const [, name] of source.matchAll(GLOBAL_NAME)) names.add(must(name));
  if (names.size === 0) return false;
  for (const [, name] of source.matchAll(DECLARED_NAME)) if (names.has(must(name))) return true;
  for (const [, name] of source.matchAll(LISTED_NAME)) if (names.has(must(name))) return true;
  return false;
}
