import { SIZED, TOLD } from './audited-operations.ts';

const MAX_ITEMS = 20;
const MAX_TEXT = 100;
/** Maximum values in all lists and objects together. */
const MAX_LEAVES = 60;

/** The arguments of a mutation as the audit log keeps them: JSON text of a few kilobytes at most, without secrets. */
export function toldArguments(args: Readonly<Record<string, unknown>>): string {
  let leaves = 0;

  function tell(value: unknown): unknown {
    if (Array.isArray(value)) {
      const told = value.slice(0, MAX_ITEMS).map(tell);
      return value.length > MAX_ITEMS ? [...told, `(and ${value.length - MAX_ITEMS} more)`] : told;
    }
    if (typeof value === 'object' && value !== null) return tellAll(value);
    leaves += 1;
    if (leaves > MAX_LEAVES) return '(left out)';
    return typeof value === 'string' && value.length > MAX_TEXT
      ? `${value.slice(0, MAX_TEXT)}… (${value.length} characters)`
      : value;
  }

  function tellAll(values: object): Record<string, unknown> {
    const given = Object.entries(values).filter(([, value]) => value !== undefined);
    return Object.fromEntries(given.map(([name, value]) => [name, tellOne(name, value)]));
  }

  function tellOne(name: string, value: unknown): unknown {
    if (value === null) return null;
    if (TOLD.has(name)) return tell(value);
    if (!SIZED.has(name)) return '(hidden)';
    return `(${(typeof value === 'string' ? value : JSON.stringify(value)).length} characters)`;
  }

  return JSON.stringify(tellAll(args));
}
