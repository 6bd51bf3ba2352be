import { badInput } from '../../errors.ts';
import { MAX_SECONDS } from './definition.ts';

/** Maximum endpoints that a rule names. */
const MAX_ENDPOINTS_NAMED = 20;
/** Maximum reminders of one alert. */
const MAX_REMINDERS = 1_000;
/** Minimum seconds between two reminders. */
const LEAST_REMIND_SECONDS = 1;

/** Who is told of a rule's alerts, and how often: its normal form, as it is stored. */
export interface Notify {
  /** Ids of endpoints; null: every endpoint of the workspace that wants such events. */
  endpointIds: string[] | null;
  /** PRODUCT: alerts of many devices at one moment are one message. */
  groupBy: 'PRODUCT' | null;
  remindEverySeconds: number | null;
  /** null: as long as it lasts. */
  maxReminders: number | null;
}

/** The same as a client sends it. */
export interface GivenNotify {
  endpointIds?: readonly string[] | null | undefined;
  endpointKeys?: readonly string[] | null | undefined;
  groupBy?: string | null | undefined;
  remindEverySeconds?: number | null | undefined;
  maxReminders?: number | null | undefined;
}

/** The default: every endpoint that wants such events, once. */
export const TELL_ALL: Notify = { endpointIds: null, groupBy: null, remindEverySeconds: null, maxReminders: null };

/** An endpoint that a client names: by id, or by key; with its path, for messages. */
export interface NamedEndpoint {
  by: 'id' | 'key';
  text: string;
  path: string;
}

/** All but the endpoints, and those as they are named; BAD_USER_INPUT naming the path of a mistake. */
export function checkNotify(
  given: GivenNotify,
  path: string,
): { notify: Omit<Notify, 'endpointIds'>; named: NamedEndpoint[] } {
  const { endpointIds, endpointKeys, groupBy, remindEverySeconds, maxReminders } = given;
  const named: NamedEndpoint[] = [
    ...(endpointIds ?? []).map((text, at) => ({ by: 'id' as const, text, path: `${path}.endpointIds[${at}]` })),
    ...(endpointKeys ?? []).map((text, at) => ({ by: 'key' as const, text, path: `${path}.endpointKeys[${at}]` })),
  ];
  if (named.length > MAX_ENDPOINTS_NAMED)
    throw badInput(`${path}: names ${named.length} endpoints, at most ${MAX_ENDPOINTS_NAMED} are allowed.`);
  if (groupBy != null && groupBy !== 'PRODUCT')
    throw badInput(`${path}.groupBy: expected PRODUCT, or left out, not ${JSON.stringify(groupBy.slice(0, 20))}.`);
  const seconds = remindEverySeconds ?? null;
  if (seconds !== null && !(seconds >= LEAST_REMIND_SECONDS && seconds <= MAX_SECONDS))
    throw badInput(`${path}.remindEverySeconds: expected ${LEAST_REMIND_SECONDS} to ${MAX_SECONDS}, not ${seconds}.`);
  if (maxReminders != null && !(maxReminders >= 1 && maxReminders <= MAX_REMINDERS))
    throw badInput(`${path}.maxReminders: expected 1 to ${MAX_REMINDERS}, not ${maxReminders}.`);
  if (maxReminders != null && seconds === null)
    throw badInput(`${path}.maxReminders: says how often it reminds at most; give remindEverySeconds too.`);
  const notify = { groupBy: groupBy ?? null, remindEverySeconds: seconds, maxReminders: maxReminders ?? null };
  return { notify: notify as Omit<Notify, 'endpointIds'>, named };
}

/** Whether the rule tells in the usual way. */
export function isDefault({ endpointIds, groupBy, remindEverySeconds }: Notify): boolean {
  return endpointIds === null && groupBy === null && remindEverySeconds === null;
}
