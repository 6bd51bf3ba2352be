/* eslint-disable @typescript-eslint/no-explicit-any */
import type { Builtins } from './builtins.ts';

/** Builds `request` (CONTRACT 5) and the other globals of a call from the input's JSON text. */
export function makeRequestBuilder(b: Builtins) {
  const titles: Map<string, string> = new Map();

  const titleCase = (name: string): string => {
    const known = b.mapGet(titles, name);
    if (known !== undefined) return known;
    let title = '';
    // Not `split`: it runs what users' code put on `String.prototype`, and titles outlive the call.
    for (let from = 0; from <= name.length;) {
      const dash = b.indexOf(name, '-', from);
      const end = dash < 0 ? name.length : dash;
      const word: string = b.slice(name, from, end);
      title += (from > 0 ? '-' : '') + b.toUpperCase(b.slice(word, 0, 1)) + b.toLowerCase(b.slice(word, 1));
      from = end + 1;
    }
    if (titles.size < 500 && name.length < 100) b.mapSet(titles, name, title);
    return title;
  };

  /** The key for a name: itself if it exists, else its Title-Case form if that does. */
  const keyOf = (target: any, key: string | symbol): string | symbol => {
    if (typeof key !== 'string' || b.hasOwn(target, key)) return key;
    const title = titleCase(key);
    return b.hasOwn(target, title) ? title : key;
  };
  const anyCase: ProxyHandler<any> = b.freeze({
    __proto__: null,
    get: (target: any, key: string | symbol) => target[keyOf(target, key)],
    has: (target: any, key: string | symbol) => keyOf(target, key) in target,
    getOwnPropertyDescriptor: (target: any, key: string | symbol) =>
      b.getOwnPropertyDescriptor(target, keyOf(target, key)),
    set: (target: any, key: string | symbol, value: unknown) => own(target, keyOf(target, key), value),
    deleteProperty: (target: any, key: string | symbol) => b.deleteProperty(target, keyOf(target, key)),
  }) as any;

  /** Defines an ordinary own property, also for the name `__proto__`. */
  const own = (target: object, key: string | symbol, value: unknown): boolean =>
    b.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true } as any);

  const headersOf = (pairs: [string, string][]): object => {
    const headers: any = {};
    for (let i = 0; i < pairs.length; i += 1) {
      const pair = pairs[i]!;
      const title = titleCase(pair[0]);
      const value = '' + pair[1];
      if (b.hasOwn(headers, title)) own(headers, title, headers[title] + ', ' + value);
      else own(headers, title, value);
    }
    return new b.Proxy(headers, anyCase);
  };

  return function requestOf(input: any): object {
    return {
      method: input.method,
      path: input.path,
      body: typeof input.body === 'string' ? input.body : '',
      headers: headersOf(input.headers ?? []),
      GET: input.GET ?? {},
      POST: input.POST ?? {},
    };
  };
}

/**
 * Makes `deviceSerialToId`, `measurements` and `configurationValues` (CONTRACT 5): nothing inherited shows as a device,
 * except `hasOwnProperty`. `identityOf`: `deviceIdentity`.
 */
export function makeLookups(b: Builtins, identityOf: (name: string) => string) {
  const base = b.freeze(
    b.create(null, { hasOwnProperty: { value: (b.objectPrototype as any).hasOwnProperty, enumerable: false } }),
  );
  const plain = (entries: any, above: object = base): any => {
    const object = b.create(above);
    const names = b.keys(entries);
    for (let i = 0; i < names.length; i += 1) {
      const name = names[i]!;
      b.defineProperty(object, name, {
        __proto__: null,
        value: entries[name],
        writable: false,
        enumerable: true,
        configurable: true,
      } as any);
    }
    return object;
  };

  /**
   * `deviceSerialToId`: own names are the serial numbers as written; a proxy behind them finds other spellings of an
   * EUI.
   */
  const serialIds = (entries: any): any => {
    // Ids of the few serial numbers not written as they compare; undefined: several devices have it.
    let byIdentity: any = null;
    const readIdentities = (): void => {
      byIdentity = b.create(null);
      const names = b.keys(entries);
      for (let i = 0; i < names.length; i += 1) {
        const name = names[i]!;
        const identity = name.length < 16 ? name : identityOf(name);
        if (identity === name) continue;
        byIdentity[identity] = identity in byIdentity || b.hasOwn(entries, identity) ? undefined : entries[name];
      }
    };
    const idOf = (key: string | symbol): any => {
      if (typeof key !== 'string' || key.length < 16) return undefined;
      if (byIdentity === null) readIdentities();
      const identity = identityOf(key);
      if (identity in byIdentity) return byIdentity[identity];
      return b.hasOwn(entries, identity) ? entries[identity] : undefined;
    };
    const has = {
      hasOwnProperty(name: any): boolean {
        return b.hasOwn(entries, name) || idOf(typeof name === 'symbol' ? name : b.String(name)) !== undefined;
      },
    }.hasOwnProperty;
    const behind = b.create(null, { hasOwnProperty: { value: b.freeze(has), enumerable: false } } as any);
    const others = new b.Proxy(b.freeze(behind), {
      __proto__: null,
      get: (target: any, key: string | symbol) => target[key] ?? idOf(key),
      has: (target: any, key: string | symbol) => key in target || idOf(key) !== undefined,
    } as any);
    return b.freeze(plain(entries, others));
  };

  /**
   * One part of the known values, by device id, and the sender's also without it. Calls `ask` with ids that were not
   * supplied, so that the run is repeated with them; null: the product has no such device.
   */
  const byDevice = (
    supplied: any,
    senderId: string | null,
    part: 'measurements' | 'configuration',
    ask: (deviceId: string) => void,
    askAll: () => readonly string[],
  ): object => {
    const sender = senderId === null || supplied[senderId] === null ? null : supplied[senderId][part];
    const known = (key: string | symbol): boolean => {
      if (typeof key !== 'string' || key.length === 0 || key.length > 200) return false;
      if (sender !== null && b.hasOwn(sender, key)) return true;
      if (!b.hasOwn(supplied, key)) {
        // Code probes these names on any object; they are never device ids.
        if (key !== 'toJSON' && key !== 'then' && !(key in b.objectPrototype)) ask(key);
        return false;
      }
      return supplied[key] !== null;
    };
    const target = b.create(base);
    const own = (object: object, key: string, value: unknown): void => {
      b.defineProperty(object, key, {
        __proto__: null,
        value,
        writable: true,
        enumerable: true,
        configurable: true,
      } as any);
    };
    const copy = (key: string): any => {
      if (!b.hasOwn(target, key)) {
        own(target, key, sender !== null && b.hasOwn(sender, key) ? sender[key] : fields(supplied[key][part]));
      }
      return target[key];
    };
    const fields = (values: any): object => {
      const object = b.create(base);
      const names = b.keys(values);
      for (let i = 0; i < names.length; i += 1) own(object, names[i]!, values[names[i]!]);
      return object;
    };
    return new b.Proxy(target, {
      __proto__: null,
      get: (_: any, key: string | symbol) => (known(key) ? copy(key as string) : (target as any)[key]),
      has: (_: any, key: string | symbol) => known(key) || key in target,
      getOwnPropertyDescriptor: (_: any, key: string | symbol) => {
        if (known(key)) copy(key as string);
        return b.getOwnPropertyDescriptor(target, key);
      },
      ownKeys: () => {
        const all = sender === null ? askAll() : b.keys(sender);
        for (let i = 0; i < all.length; i += 1) if (known(all[i]!)) copy(all[i]!);
        return b.ownKeys(target);
      },
    } as any);
  };

  return { plain, serialIds, byDevice };
}
