/**
 * Files of this folder run inside the isolate: `realm-text.ts` joins their functions as text, so each function may use
 * only its parameters and the language. Code that runs after the user's uses the built-ins captured here.
 */
/* eslint-disable @typescript-eslint/no-explicit-any */

/** Built-ins as they were before the user's code ran; methods take their `this` as first argument. */
export function captureBuiltins() {
  const uncurry = (method: any): any => Function.prototype.call.bind(method);
  const getter = (object: object, name: string | symbol): any =>
    uncurry(Object.getOwnPropertyDescriptor(object, name)!.get);
  const typedArrayPrototype = Object.getPrototypeOf(Uint8Array.prototype);
  const anyError: any = Error;
  anyError.prepareStackTrace = (_: unknown, sites: object[]) => sites;
  const callSitePrototype = Object.getPrototypeOf((new Error() as any).stack[0]);
  delete anyError.prepareStackTrace;
  return {
    global: globalThis as any,
    Array,
    BigInt,
    Boolean,
    Date,
    Error,
    Function,
    Number,
    Object,
    Proxy,
    Set,
    String,
    TypeError,
    isArray: Array.isArray,
    isFinite: Number.isFinite,
    keys: Object.keys,
    freeze: Object.freeze,
    create: Object.create,
    iterator: Symbol.iterator,
    asyncIterator: Symbol.asyncIterator,
    tagOf: uncurry(Object.prototype.toString),
    getOwnPropertySymbols: Object.getOwnPropertySymbols,
    ownKeys: Reflect.ownKeys,
    apply: Reflect.apply,
    getPrototypeOf: Reflect.getPrototypeOf,
    getOwnPropertyDescriptor: Reflect.getOwnPropertyDescriptor,
    defineProperty: Reflect.defineProperty,
    deleteProperty: Reflect.deleteProperty,
    hasOwn: Object.hasOwn,
    parse: JSON.parse,
    stringify: JSON.stringify,
    // oxlint-disable-next-line no-eval -- inside the isolate, for sources that must be scripts
    indirectEval: globalThis.eval,
    fromCharCode: String.fromCharCode,
    slice: uncurry(String.prototype.slice),
    charCodeAt: uncurry(String.prototype.charCodeAt),
    toUpperCase: uncurry(String.prototype.toUpperCase),
    toLowerCase: uncurry(String.prototype.toLowerCase),
    indexOf: uncurry(String.prototype.indexOf),
    regExpExec: uncurry(RegExp.prototype.exec),
    numberValue: uncurry(Number.prototype.valueOf),
    stringValue: uncurry(String.prototype.valueOf),
    booleanValue: uncurry(Boolean.prototype.valueOf),
    bigintValue: uncurry(BigInt.prototype.valueOf),
    bigintText: uncurry(BigInt.prototype.toString),
    symbolText: uncurry(Symbol.prototype.toString),
    dateTime: uncurry(Date.prototype.getTime),
    dateIso: uncurry(Date.prototype.toISOString),
    promiseThen: uncurry(Promise.prototype.then),
    typedArrayTag: getter(typedArrayPrototype, Symbol.toStringTag),
    typedArrayLength: getter(typedArrayPrototype, 'length'),
    callSitePrototype: callSitePrototype as object,
    // Refuse anything but V8's own call sites.
    siteFile: uncurry(callSitePrototype.getFileName),
    siteSource: uncurry(callSitePrototype.getScriptNameOrSourceURL),
    siteLine: uncurry(callSitePrototype.getLineNumber),
    siteColumn: uncurry(callSitePrototype.getColumnNumber),
    datePrototype: Date.prototype as object,
    arrayPrototype: Array.prototype as object,
    objectPrototype: Object.prototype as object,
    functionPrototype: Function.prototype as object,
    numberPrototype: Number.prototype as object,
    stringPrototype: String.prototype as object,
    booleanPrototype: Boolean.prototype as object,
    typedArrayPrototype: typedArrayPrototype as object,
    mapGet: uncurry(Map.prototype.get),
    mapSet: uncurry(Map.prototype.set),
    setHas: uncurry(Set.prototype.has),
    setAdd: uncurry(Set.prototype.add),
  };
}

/** Built-ins that the files of this folder use instead of globals. */
export type Builtins = ReturnType<typeof captureBuiltins>;
