import { badInput } from '../../errors.ts';
import { checkEmail } from '../accounts/email.ts';
import { checkTags } from '../devices/device-input.ts';
import type { EndpointKind } from '../entities/endpoint.ts';
import { checkStorable, checkText } from '../text/text.ts';
import { EVENT_TYPES, type EventType, isAlertEvent } from './event-types.ts';

/** Maximum characters of an endpoint's name. */
export const MAX_ENDPOINT_NAME = 200;
/** Maximum characters of an endpoint's URL. */
const MAX_URL = 2_048;
/** Maximum addresses per EMAIL endpoint. */
const MAX_ADDRESSES = 20;
/** Maximum products that an endpoint is limited to. */
export const MAX_ENDPOINT_PRODUCTS = 1_000;

/** The properties of an endpoint that its author chooses; left out of a change: unchanged. */
export interface EndpointWish {
  name: string;
  kind: EndpointKind;
  url?: string | null;
  addresses?: readonly string[] | null;
  events: readonly string[];
  tags?: readonly string[] | null;
  enabled?: boolean | null;
}

/** The same as it is to be stored. */
export interface CheckedEndpoint {
  name: string;
  kind: EndpointKind;
  url: string | null;
  addresses: string[] | null;
  events: EventType[];
  tags: string[];
  enabled: boolean;
}

/**
 * The endpoint with its defaults; BAD_USER_INPUT naming the path of the first mistake, which begins with `at`.
 * `sendsMail`: whether this server can send mails.
 */
export function checkEndpoint(wish: EndpointWish, at: string, sendsMail: boolean): CheckedEndpoint {
  const { kind } = wish;
  const isMail = kind === 'EMAIL';
  if (isMail && !sendsMail) throw badInput(`${at}kind: EMAIL needs the setting SMTP_URL, which this server has not.`);
  if (isMail && wish.url != null) throw badInput(`${at}url: EMAIL has addresses instead; leave it out.`);
  if (!isMail && wish.addresses != null) throw badInput(`${at}addresses: only EMAIL has them; leave it out.`);
  return {
    name: checkText(wish.name, `${at}name`, { max: MAX_ENDPOINT_NAME }),
    kind,
    url: isMail ? null : checkUrl(wish.url, `${at}url`),
    addresses: isMail ? checkAddresses(wish.addresses, `${at}addresses`) : null,
    events: checkEvents(wish.events, kind, `${at}events`),
    tags: checkTags(wish.tags ?? [], `${at}tags`),
    enabled: wish.enabled ?? true,
  };
}

/** The ids in lower case, each once; null: all products. BAD_USER_INPUT for an empty list, which could mean either. */
export function checkEndpointProducts(ids: readonly string[] | null | undefined, path: string): string[] | null {
  if (ids == null) return null;
  if (ids.length === 0) throw badInput(`${path}: leave it out for all products, or name at least one.`);
  if (ids.length > MAX_ENDPOINT_PRODUCTS) throw badInput(`${path}: at most ${MAX_ENDPOINT_PRODUCTS} products.`);
  return [...new Set(ids.map((id) => id.toLowerCase()))];
}

/** http or https, without user, password and fragment; where it may lead is judged when it is connected to. */
function checkUrl(given: string | null | undefined, path: string): string {
  if (given == null || given.trim() === '') throw badInput(`${path}: this kind of endpoint needs a URL.`);
  if (given.length > MAX_URL) throw badInput(`${path}: ${given.length} characters, at most ${MAX_URL} are allowed.`);
  checkStorable(given, path);
  const url = URL.canParse(given) ? new URL(given) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.hostname === '')
    throw badInput(`${path}: expected a URL such as https://example.org/inlet.`);
  if (url.username !== '' || url.password !== '')
    throw badInput(`${path}: no user and password in it; calls are signed, and the path or query may hold a secret.`);
  if (url.hash !== '') throw badInput(`${path}: no "#" in it; nothing behind it is ever sent.`);
  if (url.href.length > MAX_URL) throw badInput(`${path}: more than ${MAX_URL} characters once it is encoded.`);
  return url.href;
}

function checkAddresses(given: readonly string[] | null | undefined, path: string): string[] {
  if (given == null || given.length === 0) throw badInput(`${path}: name at least one address.`);
  if (given.length > MAX_ADDRESSES) throw badInput(`${path}: at most ${MAX_ADDRESSES} addresses.`);
  return [...new Set(given.map((address, index) => checkAddress(address, `${path}[${index}]`)))];
}

/** One address alone: characters by which mail programs tell addresses apart would make several of it. */
function checkAddress(given: string, path: string): string {
  const address = checkEmail(given, path);
  // oxlint-disable-next-line no-control-regex -- Control characters are what it looks for.
  if (/[<>,;:()[\]\\"\u0000-\u001f\u007f]/.test(address))
    throw badInput(`${path}: expected a plain address such as ada@example.org, without a name.`);
  return address;
}

/** In the order of the contract, each once; none: only rules that name the endpoint send to it. */
function checkEvents(given: readonly string[], kind: EndpointKind, path: string): EventType[] {
  for (const [index, type] of given.entries()) {
    if (!(EVENT_TYPES as string[]).includes(type))
      throw badInput(
        `${path}[${index}]: ${JSON.stringify(type.slice(0, 60).toWellFormed())} is no event; there are ${EVENT_TYPES.join(', ')}.`,
      );
    if (kind === 'ALERTMANAGER' && !isAlertEvent(type))
      throw badInput(`${path}[${index}]: ALERTMANAGER takes alerts alone, not ${type}.`);
    if (kind === 'EMAIL' && type === 'measurements.recorded')
      throw badInput(`${path}[${index}]: nobody reads a mail each second; measurements.recorded is for WEBHOOK.`);
  }
  return EVENT_TYPES.filter((type) => given.includes(type));
}
