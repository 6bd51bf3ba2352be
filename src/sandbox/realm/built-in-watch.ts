/* eslint-disable @typescript-eslint/no-explicit-any */
import type { Builtins } from './builtins.ts';

/**
 * Tells whether a run changed a built-in, so that the context can be thrown away.
 *
 * Comparing every property descriptor costs some 100 µs. It is enough to compare, for each of the ~150 built-in
 * objects, the number of enumerable keys, and all writable values (a few µs), because
 * - methods (functions that are no constructors) are frozen, so they cannot carry anything;
 * - accessors, read-only values, symbol keys, values that equal an inherited one, and keys that are enumerable from the
 *   beginning (of `console`) are made permanent: they can neither be deleted nor become enumerable;
 * - assignment, class fields and every other built-in can only create *enumerable* properties, or make one so;
 * - symbol keys, which take as long again to count, can only be created with a symbol, and reaching one is noted;
 * - the few functions that can do otherwise on an existing object, exchange its prototype, or make it inextensible
 *   (`Object.defineProperty`, `Object.setPrototypeOf`, `Object.freeze` and the like, and `Proxy`, which could smuggle a
 *   built-in past them) are wrapped and noted: asking each object takes as long as a whole run.
 */
export function watchBuiltins(b: Builtins) {
  const { Object, Proxy, Error } = b;
  /**
   * Makes V8 lay an object out anew, by reading it as a prototype. An object defined piece by piece is a dictionary,
   * whose keys are slow to count.
   */
  const makeFast = (object: any): void => {
    const child = b.create(object);
    for (let i = 0; i < 3; i += 1) void child.nothing;
  };
  const global = b.global;
  const objects: any[] = [];
  const members = new Set<any>();
  let noted = false;
  let symbolsReached = false;

  /** Replaces a function by one that notes its use on a built-in. */
  const wrap = (holder: any, name: string, arity: number, targetOf: (self: any, first: any) => any): void => {
    const original = holder[name];
    const wrapper = {
      [name](this: any, ...values: any[]): any {
        if (b.setHas(members, targetOf(this, values[0]))) noted = true;
        return b.apply(original, this, values);
      },
    }[name]!;
    b.defineProperty(wrapper, 'length', { value: arity, configurable: true });
    b.defineProperty(holder, name, { value: wrapper, writable: true, enumerable: false, configurable: true });
  };
  const first = (_: any, value: any): any => value;
  const self = (value: any): any => value ?? global;
  wrap(Object, 'defineProperty', 3, first);
  wrap(Object, 'defineProperties', 2, first);
  wrap(global.Reflect, 'defineProperty', 3, first);
  // An object given one of Intl's prototypes for a moment can get state that no list of keys shows.
  wrap(Object, 'setPrototypeOf', 2, first);
  wrap(global.Reflect, 'setPrototypeOf', 2, first);
  const { get, set } = b.getOwnPropertyDescriptor(b.objectPrototype, '__proto__')!;
  const watched = {
    set __proto__(value: unknown) {
      if (b.setHas(members, this)) noted = true;
      b.apply(set!, this, [value]);
    },
  };
  const { set: watchedSet } = b.getOwnPropertyDescriptor(watched, '__proto__')!;
  b.defineProperty(b.objectPrototype, '__proto__', { __proto__: null, get, set: watchedSet } as any);
  for (const name of ['preventExtensions', 'seal', 'freeze']) wrap(Object, name, 1, first);
  wrap(global.Reflect, 'preventExtensions', 1, first);
  wrap(Error, 'captureStackTrace', 2, first);
  wrap(b.objectPrototype, '__defineGetter__', 2, self);
  wrap(b.objectPrototype, '__defineSetter__', 2, self);

  const watchedProxy: any = function (target: object, handler: object) {
    if (new.target === undefined) throw new b.TypeError("Constructor Proxy requires 'new'");
    noted = true;
    return new Proxy(target, handler);
  };
  const revocable = Proxy.revocable;
  b.defineProperty(watchedProxy, 'name', { value: 'Proxy', configurable: true });
  b.defineProperty(watchedProxy, 'revocable', {
    value: {
      revocable(target: object, handler: object) {
        noted = true;
        return b.apply(revocable, Proxy, [target, handler]);
      },
    }.revocable,
    writable: true,
    configurable: true,
  });
  b.defineProperty(global, 'Proxy', { value: watchedProxy, writable: true, configurable: true });

  // Notes access to symbols, and to functions that copy symbol keys.
  const { Symbol: AnySymbol } = global;
  b.defineProperty(global, 'Symbol', {
    __proto__: null,
    get() {
      symbolsReached = true;
      return AnySymbol;
    },
    set(value: unknown) {
      noted = true;
      b.defineProperty(global, 'Symbol', { __proto__: null, value, writable: true } as any);
    },
    configurable: true,
  } as any);
  for (const [holder, name] of [
    [Object, 'getOwnPropertySymbols'],
    [Object, 'getOwnPropertyDescriptors'],
    [global.Reflect, 'ownKeys'],
  ]) {
    wrap(holder, name, 1, () => {
      symbolsReached = true;
    });
  }

  // All that is reachable, and the intrinsics that only syntax or call results reach.
  const segments: any = new (global.Intl.Segmenter as any)().segment('');
  const roots: any[] = [
    global,
    segments,
    segments[Symbol.iterator](),
    b.create(b.callSitePrototype),
    function* () {},
    async function () {},
    async function* () {},
    [].values(),
    new Map().values(),
    new Set().values(),
    ''[Symbol.iterator](),
    'a'.matchAll(/a/g),
    ([].values() as any).map((x: any) => x),
    global.Iterator.from({ next() {} }),
    Object.getOwnPropertyDescriptor(
      (function () {
        return arguments;
      })(),
      'callee',
    )!.get,
  ];
  for (let i = 1; i < roots.length - 1; i += 1) roots[i] = b.getPrototypeOf(roots[i]);
  const stack = b.getOwnPropertyDescriptor(new Error(), 'stack')!;
  roots.push(stack.get, stack.set, AnySymbol);
  const isInherited = (object: any, key: string | symbol): boolean => {
    const above = b.getPrototypeOf(object);
    return (above === null ? undefined : (above as any)[key]) === b.getOwnPropertyDescriptor(object, key)!.value;
  };
  const queue: any[] = roots;
  const values: any[] = [];
  const symbolKeys: symbol[] = [];
  /** Comparison code for each of `values`: many times faster than a loop over owners and keys. */
  const comparisons: string[] = [];
  while (queue.length > 0) {
    const object = queue.pop();
    if (object === null || (typeof object !== 'object' && typeof object !== 'function') || members.has(object))
      continue;
    members.add(object);
    queue.push(b.getPrototypeOf(object));
    const isMethod = typeof object === 'function' && object !== b.functionPrototype && !b.hasOwn(object, 'prototype');
    for (const key of b.ownKeys(object)) {
      const descriptor = b.getOwnPropertyDescriptor(object, key)!;
      const isOrdinary = 'value' in descriptor && descriptor.writable && typeof key === 'string';
      const isPermanent = !isOrdinary || descriptor.enumerable || isInherited(object, key);
      if (!isMethod && descriptor.configurable && isPermanent) {
        b.defineProperty(object, key, { __proto__: null, configurable: false } as any);
      }
      if ('value' in descriptor) {
        queue.push(descriptor.value);
        if (descriptor.writable && !isMethod) {
          const owner = `o[${objects.length}]`;
          const name = typeof key === 'string' ? b.stringify(key) : `k[${symbolKeys.length}]`;
          if (typeof key === 'symbol') symbolKeys.push(key);
          comparisons.push(`${owner}[${name}]===v[${values.length}]`);
          values.push(descriptor.value);
        }
      } else queue.push(descriptor.get, descriptor.set);
    }
    if (isMethod) b.freeze(object);
    else objects.push(object);
  }
  const others = objects.filter((object) => object !== global);
  for (const object of others) makeFast(object);
  const enumerable = others.map((object) => b.keys(object).length);
  const symbols = objects.map((object) => b.getOwnPropertySymbols(object).length);
  const unchangedValues: (() => boolean)[] = [];
  for (let at = 0; at < comparisons.length; at += 100) {
    const text = comparisons.slice(at, at + 100).join('&&');
    unchangedValues.push(
      new b.Function('o', 'v', 'k', `'use strict'; return () => ${text}`)(objects, values, symbolKeys),
    );
  }
  symbolsReached = false;

  /** Deletes the globals that the run left; gives up on thousands, which take as long as the run. */
  const sweepGlobal = (): boolean => {
    const names = b.keys(global);
    if (names.length > 1_000) return false;
    for (let i = 0; i < names.length; i += 1) if (!b.deleteProperty(global, names[i]!)) return false;
    return true;
  };

  /** Returns whether all built-ins are as they were, after removing new globals. Runs no code of the user. */
  return function unchanged(): boolean {
    if (noted) return false;
    if (b.keys(global).length > 0 && !sweepGlobal()) return false;
    for (let i = 0; i < others.length; i += 1) if (b.keys(others[i]).length !== enumerable[i]) return false;
    if (symbolsReached) {
      symbolsReached = false;
      for (let i = 0; i < objects.length; i += 1) {
        if (b.getOwnPropertySymbols(objects[i]).length !== symbols[i]) return false;
      }
    }
    for (let i = 0; i < unchangedValues.length; i += 1) if (!unchangedValues[i]!()) return false;
    return true;
  };
}
