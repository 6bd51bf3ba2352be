import { MUTATIONS } from '../../api/schema-types.ts';

/** Mutations that change no setup, and so are in no log. */
const UNTOLD = new Set(
  'signIn acceptInvitation resetPassword recordMeasurements testDecoder testRule planConfiguration'.split(' '),
);

/** The operations that a log may have. */
export const OPERATIONS = MUTATIONS.filter((name) => !UNTOLD.has(name));

/** The part of an entry that says what was done. */
interface Deed {
  operation: string;
  subjects: readonly string[];
  arguments?: unknown;
}

/** An operation in words: `Update device` for `updateDevice`. */
export function operationText(operation: string): string {
  const words = operation.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

const OF_DEVICE = new Set(['createDevices', 'updateDevice', 'replaceDevice', 'adoptUnknownDevice']);
const OF_PRODUCT = new Set(['createProduct', 'updateProduct', 'cloneProduct', 'rotateWebhook']);
const OF_ENDPOINT = new Set(['createEndpoint', 'updateEndpoint', 'rotateEndpointSecret', 'testEndpoint']);

/** The path of what was changed in the console, as far as it has one; null: none, or it is gone. */
export function placeOf({ operation, subjects, arguments: given }: Deed): string | null {
  const [subject] = subjects;
  const named = (name: string): string | undefined => {
    const value = isObject(given) ? given[name] : undefined;
    return typeof value === 'string' ? value : undefined;
  };
  const id = subject ?? named('id');
  if (OF_DEVICE.has(operation) && id !== undefined) return `/devices/${id}`;
  if (OF_PRODUCT.has(operation) && id !== undefined) return `/products/${id}`;
  if (OF_ENDPOINT.has(operation) && id !== undefined) return `/endpoints/${id}`;
  const [device, product, endpoint] = [named('deviceId'), named('productId'), named('endpointId')];
  if (device !== undefined) return `/devices/${device}`;
  if (product !== undefined) return `/products/${product}`;
  if (endpoint !== undefined) return `/endpoints/${endpoint}`;
  return /Token|Member|Invitation|Workspace/.test(operation) && !operation.startsWith('delete') ? '/access' : null;
}

const MAX_TOLD = 4;

/** The plain values among the arguments in a line, such as `name: Hall, plan: standard`; ids and null are left out. */
export function argumentsText(given: unknown): string {
  if (typeof given === 'string') return given;
  const told: string[] = [];
  const tell = (value: unknown, name: string): void => {
    if (/^id$|Ids?$/.test(name) || value === null) return;
    if (Array.isArray(value)) {
      const plain = value.filter((item) => typeof item === 'string' || typeof item === 'number');
      if (plain.length > 0) told.push(`${name}: ${plain.join(', ')}`);
      else if (value.length > 0) told.push(`${name}: ${value.length}`);
    } else if (isObject(value)) for (const [part, inner] of Object.entries(value)) tell(inner, part);
    else told.push(`${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  };
  if (isObject(given)) for (const [name, value] of Object.entries(given)) tell(value, name);
  return told.slice(0, MAX_TOLD).join(', ') + (told.length > MAX_TOLD ? ' …' : '');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
