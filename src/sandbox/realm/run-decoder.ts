/* eslint-disable @typescript-eslint/no-explicit-any */
import type { Builtins } from './builtins.ts';
import type { makeConsole } from './console-capture.ts';
import type { OutputWriter, Write } from './output-text.ts';
import type { CallRandom } from './random.ts';
import type { makeLookups, makeRequestBuilder } from './request-object.ts';

/** Describes any thrown value as `Name: message`, without trusting any of it. */
export function makeErrorDescription(b: Builtins, write: Write) {
  const text = (value: unknown, name: string): string => {
    try {
      const found = (value as any)[name];
      if (typeof found !== 'string') return '';
      if (found.length > 10_000_000) return '(' + found.length + ' characters)';
      return b.slice(found, 0, 2000);
    } catch {
      return '';
    }
  };
  return function describe(error: unknown): string {
    if (typeof error === 'string') return b.slice(error, 0, 2000);
    if (typeof error === 'symbol') return b.symbolText(error);
    if (error === undefined || (typeof error !== 'object' && typeof error !== 'function') || error === null) {
      return write(error, 2000, true) || 'undefined';
    }
    const message = text(error, 'message');
    const name = text(error, 'name');
    if (message !== '' || name !== '') return name === '' ? message : message === '' ? name : name + ': ' + message;
    try {
      return write(error, 2000, true);
    } catch {
      return 'an object that cannot be shown';
    }
  };
}

/**
 * Trusted side of a call: runs the decoder and returns one text, whose first letter says what follows. `O`: output
 * JSON, no console; `R`: JSON `{output, console}`; `E`: JSON `{kind, message, line, column, stack, console}`; `M`: JSON
 * list of device ids whose last values are missing; `P`: a promise is pending, call `settle`; `D`: an earlier call
 * changed the context, nothing has run.
 */
export function makeRunner(
  b: Builtins,
  { write, refusalOf }: OutputWriter,
  describe: (error: unknown) => string,
  lines: ReturnType<typeof makeConsole>,
  random: CallRandom,
  requestOf: ReturnType<typeof makeRequestBuilder>,
  lookups: ReturnType<typeof makeLookups>,
  unchanged: () => boolean,
) {
  type EntryFunctions = { Decoder: any; decodeUplink: any; Decode: any; decodeEvent: any };
  const maxOutput = 1_048_576;
  const maxEntries = 10_000;
  let factory: (() => EntryFunctions) | null = null;
  let script = '';
  let entryPoint = 'webhook';
  let usesLookups = false;
  let serials: any = lookups.serialIds({});
  let serialIds: readonly string[] = [];
  let used = false;
  let pending: { state: 'pending' | 'kept' | 'broken'; value: unknown } | null = null;
  let missing: Set<string> = new b.Set();
  let missingText = '';

  /** Thrown if the context turns out to be changed; known by identity. */
  const changed = {};
  const setGlobal = (name: string, value: unknown): void => {
    const done = b.defineProperty(b.global, name, {
      value,
      writable: true,
      enumerable: false,
      // Deleting a global would reorder the keys for the next call. A script has its own context and may declare a
      // function of that name.
      configurable: factory === null,
    } as any);
    if (!done) throw changed;
  };

  const consoleJson = (): string => '[' + lines.text() + ']';
  const failure = (kind: string, message: string, place: string): string =>
    `E{"kind":"${kind}","message":${b.stringify(message)},${place}"console":${consoleJson()}}`;

  const isPlace = (value: unknown): value is number =>
    typeof value === 'number' && value > 0 && value < 10_000_000 && value % 1 === 0;
  /**
   * Place of an error in the user's source: asked of V8, since `stack` may lie; else the bounded text of `stack`. The
   * user's code may still interfere, so only whole numbers and JSON text get through.
   */
  const placeOf = (error: any): string => {
    if (typeof error !== 'object' || error === null) return '';
    let place = '';
    const before = b.getOwnPropertyDescriptor(b.Error, 'prepareStackTrace');
    let stack: unknown;
    try {
      b.defineProperty(b.Error, 'prepareStackTrace', {
        __proto__: null,
        value: (_: unknown, sites: any[]) => {
          for (let i = 0; i < sites.length && i < 50; i += 1) {
            const site = sites[i];
            if ((b.siteFile(site) ?? b.siteSource(site)) !== 'decoder.js') continue;
            const line = b.siteLine(site);
            const column = b.siteColumn(site);
            if (isPlace(line)) place = `"line":${line},"column":${isPlace(column) ? column : 0},`;
            break;
          }
          return '';
        },
        writable: true,
        enumerable: true,
        configurable: true,
      } as any);
      stack = error.stack;
    } catch {
      // No place is better than a wrong one.
    }
    if (before === undefined) b.deleteProperty(b.Error, 'prepareStackTrace');
    else b.defineProperty(b.Error, 'prepareStackTrace', before);
    if (place !== '') return place;
    return typeof stack === 'string' && stack !== '' ? `"stack":${b.stringify(b.slice(stack, 0, 4000))},` : '';
  };

  /** Ends the sentence that says which function is missing. */
  const insteadOf = ({ decodeUplink, Decode }: EntryFunctions): string => {
    const there = typeof decodeUplink === 'function' ? 'decodeUplink' : typeof Decode === 'function' ? 'Decode' : '';
    return there === '' ? '.' : `; ${there} is called only for uplinks of LoRaWAN networks.`;
  };
  const call = (functions: EntryFunctions, input: any): { value: unknown } | string => {
    const { Decoder, decodeUplink, Decode, decodeEvent } = functions;
    if (entryPoint === 'event') {
      if (typeof decodeEvent !== 'function') return 'The source defines no function decodeEvent(input).';
      const { type, event, recvTime, variables } = input;
      return { value: decodeEvent({ type, event, recvTime: new b.Date(recvTime), variables: variables ?? {} }) };
    }
    if (entryPoint === 'lorawan') {
      if (typeof decodeUplink === 'function') {
        const { bytes, fPort, recvTime, variables } = input;
        const given = { bytes, fPort, recvTime: new b.Date(recvTime), variables: variables ?? {} };
        return { value: decodeUplink(given) };
      }
      if (typeof Decoder === 'function') return { value: Decoder(input.bytes, input.fPort) };
      // Older form of ChirpStack.
      if (typeof Decode === 'function') return { value: Decode(input.fPort, input.bytes, input.variables ?? {}) };
      return `The source defines neither decodeUplink(input) nor Decoder(bytes, port)${insteadOf(functions)}`;
    }
    if (typeof Decoder !== 'function') {
      const wanted = entryPoint === 'particle' ? 'Decoder(payload, event)' : 'Decoder(request)';
      return `The source defines no function ${wanted}${insteadOf(functions)}`;
    }
    if (entryPoint === 'particle') return { value: Decoder(input.payload, input.event) };
    return { value: Decoder(requestOf(input)) };
  };

  /** Tag of a Set, Map, generator or the like, which would be written without keys; '' for anything else. */
  const otherList = (value: any): string => {
    if (typeof value !== 'object' || value === null || b.isArray(value)) return '';
    if (b.getPrototypeOf(value) === b.objectPrototype || b.typedArrayTag(value) !== undefined) return '';
    if (typeof value[b.iterator] !== 'function' && typeof value[b.asyncIterator] !== 'function') return '';
    return b.keys(value).length > 0 ? '' : b.slice(b.tagOf(value), 8, -1);
  };

  const finish = (value: unknown): string => {
    if (entryPoint === 'webhook' && value !== null && value !== undefined && typeof value !== 'object') {
      const what =
        typeof value === 'function' ? 'a function' : `the ${typeof value} ${b.slice(describe(value), 0, 100)}`;
      return failure('BAD_OUTPUT', `The decoder returned ${what}; it must return an array of entries.`, '');
    }
    const list = otherList(value);
    if (list !== '') {
      const article = b.indexOf('AEIOU', b.slice(list, 0, 1)) < 0 ? 'a' : 'an';
      return failure('BAD_OUTPUT', `The decoder returned ${article} ${list}; it must return an array of entries.`, '');
    }
    if (b.isArray(value) && value.length > maxEntries) {
      const message = `The decoder returned ${+value.length} entries; the limit is ${maxEntries}.`;
      return failure('BAD_OUTPUT', message, '');
    }
    const output = write(value, maxOutput, false) || 'null';
    return lines.text() === '' ? 'O' + output : `R{"output":${b.stringify(output)},"console":${consoleJson()}}`;
  };

  /** Returns the text of `work`, or of the error it throws, also if describing that throws. */
  const told = (work: () => string): string => {
    let result: string;
    try {
      result = work();
    } catch (error) {
      if (error === changed) return 'D';
      try {
        result = failed(error);
      } catch {
        result = failure('THREW', 'an error that cannot be shown', '');
      }
    }
    return missingText === '' ? result : 'M[' + missingText + ']';
  };
  const failed = (error: any): string => {
    const refusal = refusalOf(error);
    if (refusal !== null) return failure('BAD_OUTPUT', `The decoder returned ${refusal}.`, '');
    // The place first: reading `message` may run users' code that changes stack traces.
    const place = placeOf(error);
    return failure('THREW', describe(error), place);
  };

  const isThenable = (value: any): boolean =>
    typeof value === 'object' && value !== null && typeof value.then === 'function';
  const awaited = (value: any): string => {
    const waiting: NonNullable<typeof pending> = { state: 'pending', value: undefined };
    try {
      b.promiseThen(
        value,
        (kept: unknown) => {
          waiting.state = 'kept';
          waiting.value = kept;
        },
        (reason: unknown) => {
          waiting.state = 'broken';
          waiting.value = reason;
        },
      );
    } catch {
      return failure('BAD_OUTPUT', 'The decoder returned a thenable; it must return its entries synchronously.', '');
    }
    pending = waiting;
    return 'P';
  };

  return {
    /** `made`: the user's source as a function; without it `source` is run as a script. */
    install(made: typeof factory, source: string, entry: string, lookupsUsed: boolean): void {
      // It outlives the call, and sloppy code can reach it (`caller`, call sites).
      if (made !== null) b.freeze(made);
      factory = made;
      script = source;
      entryPoint = entry;
      usesLookups = lookupsUsed;
    },
    setSerials(text: string): void {
      const map = b.parse(text);
      serials = lookups.serialIds(map);
      const names = b.keys(map);
      const ids: string[] = [];
      for (let i = 0; i < names.length && i < 1000; i += 1) ids[i] = map[names[i]!];
      serialIds = ids;
    },
    /** `lastRound`: ids that are still missing count as unknown devices. `seed`: of the random numbers. */
    run(inputText: string, lookedUpText: string, lastRound: boolean, seed: number): string {
      if (used && !unchanged()) return 'D';
      used = true;
      b.regExpExec(/^/, ''); // forgets RegExp.$1 and its kin
      random.begin(seed);
      lines.clear();
      pending = null;
      missingText = '';
      return told(() => {
        const input = b.parse(inputText);
        if (usesLookups) {
          missing = new b.Set();
          let asked = 0;
          setGlobal('deviceSerialToId', serials);
          const ask = (id: string): void => {
            if (lastRound || asked > 1000 || b.setHas(missing, id)) return;
            b.setAdd(missing, id);
            asked += 1;
            missingText += (missingText === '' ? '' : ',') + b.stringify(id);
          };
          const [senderId, supplied] = lookedUpText === '' ? [null, {}] : b.parse(lookedUpText);
          const all = (): readonly string[] => serialIds;
          setGlobal('measurements', lookups.byDevice(supplied, senderId, 'measurements', ask, all));
          setGlobal('configurationValues', lookups.byDevice(supplied, senderId, 'configuration', ask, all));
        }
        if (entryPoint !== 'webhook') {
          setGlobal('rawPayload', input.rawPayload);
          setGlobal('normalizedPayload', input.normalizedPayload);
        }
        const functions = factory === null ? (b.indirectEval(script) as EntryFunctions) : factory();
        const returned = call(functions, input);
        if (typeof returned === 'string') return failure('NO_DECODER_FUNCTION', returned, '');
        return isThenable(returned.value) ? awaited(returned.value) : finish(returned.value);
      });
    },
    /** Settles a result `P`, once the microtasks have run. */
    settle(): string {
      const settled = pending;
      pending = null;
      return told(() => {
        if (settled === null || settled.state === 'pending') {
          const message =
            'The decoder returned a promise that never settles; it must return its entries synchronously.';
          return failure('BAD_OUTPUT', message, '');
        }
        if (settled.state === 'broken') throw settled.value;
        return finish(settled.value);
      });
    },
  };
}
