import type { World } from './world.ts';

/** Arguments by name; a function tells each alias another value. */
export type Args = Record<string, unknown>;

/** Stands for how many are asked of a page. */
export const FIRST = Symbol('first');

/** By `Type.field`: every way to give its arguments, the first the usual one. A field without arguments needs none. */
export type OutputWays = Record<string, (world: World) => Args[]>;

/** How a mutation is called. */
export interface MutationWay {
  /** Every way; `made`: what `make` made just before. */
  args: (world: World, made: any) => Args[];
  /** What it takes away, made anew for each call. */
  make?: (maker: import('./world.ts').Maker) => Promise<unknown>;
  /** A token of somebody who has signed in, not of the operator. */
  byPerson?: true;
}

/** How a subscription is asked for, and what makes it tell something. */
export interface SubscriptionWay {
  args: (world: World) => Args[];
  /** What happens when it has been asked for. */
  happens: (
    world: World,
    record: (device: string, entries: unknown[]) => Promise<unknown>,
    call: () => Promise<unknown>,
  ) => Promise<unknown>;
}

/** The value for an alias. */
export function valueFor(value: unknown, alias: number, first: number): unknown {
  if (value === FIRST) return first;
  return typeof value === 'function' ? (value as (alias: number) => unknown)(alias) : value;
}
