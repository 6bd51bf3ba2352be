import { randomBytes } from 'node:crypto';
import type { IConnectPacket } from 'mqtt-packet';
import type { Access } from '../domain/access/access.ts';
import { asAppError, unauthenticated } from '../errors.ts';
import { anonymousAt } from '../scheduling/caller.ts';
import { runAs } from '../scheduling/current-caller.ts';
import type { MqttDoor, Sender } from './mqtt-door.ts';
import { MAX_UNDER_WAY } from './message-flow.ts';
import { type Version, writePacket } from './packets.ts';
import { AWAY_SECONDS } from './sessions.ts';
import { MAX_ALIASES } from './topic-aliases.ts';

/** A client that may record. */
export interface SignedIn {
  access: Access;
  clientId: string;
  /** Whether the client left it to the server to name it. */
  isAssigned: boolean;
  /** How long its session outlives its connection (MQTT 5). */
  expirySeconds: number;
}

/** Maximum characters of a client id. */
const MAX_CLIENT_ID = 256;

/** Reason codes of MQTT 5, and return codes of 3.1.1, that say why a client is refused. */
const WRONG_VERSION = { v5: 0x84, v3: 1 };
const WRONG_ID = { v5: 0x85, v3: 2 };
const UNAVAILABLE = { v5: 0x88, v3: 3 };
const WRONG_TOKEN = { v5: 0x86, v3: 4 };
const FORBIDDEN = { v5: 0x87, v3: 5 };
const NO_SUCH_METHOD = { v5: 0x8c, v3: 5 };
const TOO_MANY = { v5: 0x9f, v3: 3 };

/** Signs a client in whose password, or else user name, is a token with RECORD; else the CONNACK that refuses it. Never rejects. */
export async function signIn(
  packet: IConnectPacket,
  sender: Sender,
  door: MqttDoor,
): Promise<SignedIn | { refusal: Buffer }> {
  const version = packet.protocolVersion ?? 4;
  const refuse = (why: { v5: number; v3: number }, reasonString: string): { refusal: Buffer } => {
    door.log.debug({ clientId: packet.clientId, address: sender.socket.remoteAddress }, reasonString);
    return { refusal: refusal(version, why, reasonString) };
  };
  if (version === 3) return refuse(WRONG_VERSION, 'MQTT 3.1 is not spoken here, but 3.1.1 and 5.');
  if (packet.clientId.length > MAX_CLIENT_ID)
    return refuse(WRONG_ID, `A client id has ${MAX_CLIENT_ID} characters at most.`);
  if (packet.clientId === '' && packet.clean !== true && version === 4)
    return refuse(WRONG_ID, 'A session that is to be kept needs a client id.');
  if (packet.properties?.authenticationMethod !== undefined)
    return refuse(NO_SUCH_METHOD, 'Sign in with a token as password.');
  try {
    const access = await accessOf(packet, sender, door);
    access.workspaceIdsWith('RECORD');
    const isAssigned = packet.clientId === '';
    const clientId = isAssigned ? `inlet-${randomBytes(9).toString('hex')}` : packet.clientId;
    return { access, clientId, isAssigned, expirySeconds: packet.properties?.sessionExpiryInterval ?? 0 };
  } catch (thrown) {
    const error = asAppError(thrown);
    if (error === null) door.log.error({ err: thrown }, 'internal error: a client could not sign in');
    switch (error?.code) {
      case 'UNAUTHENTICATED':
        return refuse(WRONG_TOKEN, error.message);
      case 'FORBIDDEN':
        return refuse(FORBIDDEN, error.message);
      case 'RATE_LIMITED':
        return refuse(TOO_MANY, error.message);
      default:
        return refuse(UNAVAILABLE, error?.message ?? 'Internal error.');
    }
  }
}

async function accessOf(
  { username, password }: IConnectPacket,
  sender: Sender,
  { authenticator, anonymous }: MqttDoor,
): Promise<Access> {
  const secrets = [password?.toString('utf8').trim(), username?.trim()].filter(
    (secret) => secret !== undefined && secret !== '',
  ) as string[];
  if (secrets.length === 0) throw unauthenticated('Send a token as password, with any user name.');
  for (const secret of secrets) {
    const cached = authenticator.cached(secret);
    if (cached !== null) return cached;
  }
  // Looked up in the database: a flood of unknown tokens costs that.
  const stranger = anonymousAt(anonymous.addressOf(sender));
  const access = await anonymous.during(sender, () =>
    runAs(stranger, async () => {
      for (const secret of secrets) {
        const found = await authenticator.authenticate(secret);
        if (found !== null) return found;
      }
      return null;
    }),
  );
  if (access === null) throw unauthenticated('The password is no valid token: unknown, expired or revoked.');
  return access;
}

function refusal(version: Version, why: { v5: number; v3: number }, reasonString: string): Buffer {
  if (version === 5)
    return writePacket(
      { cmd: 'connack', sessionPresent: false, reasonCode: why.v5, properties: { reasonString } },
      version,
    );
  return writePacket({ cmd: 'connack', sessionPresent: false, returnCode: why.v3 }, 4);
}

/** The CONNACK that takes a client in: what a connection may do, and whether its session goes on. */
export function welcome(
  version: Version,
  { clientId, isAssigned, expirySeconds }: SignedIn,
  sessionPresent: boolean,
  maximumPacketSize: number,
): Buffer {
  if (version !== 5) return writePacket({ cmd: 'connack', sessionPresent, returnCode: 0 }, version);
  const properties = {
    receiveMaximum: MAX_UNDER_WAY,
    maximumPacketSize,
    topicAliasMaximum: MAX_ALIASES,
    retainAvailable: false,
    wildcardSubscriptionAvailable: false,
    subscriptionIdentifiersAvailable: false,
    sharedSubscriptionAvailable: false,
    ...(isAssigned ? { assignedClientIdentifier: clientId } : {}),
    ...(expirySeconds > AWAY_SECONDS ? { sessionExpiryInterval: AWAY_SECONDS } : {}),
  };
  return writePacket({ cmd: 'connack', sessionPresent, reasonCode: 0, properties }, version);
}
