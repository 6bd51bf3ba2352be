import type { Socket } from 'node:net';
import type { IConnectPacket, ISubscribePacket, IUnsubscribePacket } from 'mqtt-packet';
import type { Access } from '../domain/access/access.ts';
import type { DeviceClient } from '../domain/devices/device-clients.ts';
import { BrokenPacket, type Frame, Frames, idOf, REASONS, TYPES } from './frames.ts';
import { MessageFlow } from './message-flow.ts';
import type { MqttDoor, Sender } from './mqtt-door.ts';
import { readPacket, shortAcknowledgement, type Version, writePacket } from './packets.ts';
import { type PublishPacket, readPublish } from './publish-packet.ts';
import type { Session } from './sessions.ts';
import { type SignedIn, signIn, welcome } from './sign-in.ts';
import { TopicAliases } from './topic-aliases.ts';

/** Maximum bytes of a packet before its client is signed in. */
const MAX_CONNECT_BYTES = 65_536;
/** Maximum time until a connection has signed in, and after it was ended until it is cut off. */
const [SIGN_IN_MS, END_MS] = [10_000, 2_000];
/** Maximum subscriptions per session. */
const MAX_SUBSCRIPTIONS = 100;
/** Bytes that a connection holds without being counted. */
const FREE_BYTES = 16_384;
const PONG = Buffer.from([0xd0, 0]);
const NO_SUBSCRIPTION = 0x11;

/** A client that has signed in. */
interface Client extends SignedIn {
  /** The name of its session: its id within its token. */
  name: string;
  session: Session;
  flow: MessageFlow;
  shown: DeviceClient;
  /** 0: none. */
  keepAliveMs: number;
}

/** A connection of MQTT (CONTRACT 14): reads its packets in order, and stops reading while too much is under way. */
export class MqttConnection {
  readonly #door: MqttDoor;
  readonly #socket: Socket;
  readonly #frames = new Frames(MAX_CONNECT_BYTES);
  readonly #sender: Sender;
  readonly #since: number;
  #version: Version = 5;
  #client: Client | null = null;
  readonly #aliases = new TopicAliases();
  #out: Buffer[] = [];
  #lastReadAt: number;
  /** Set while a packet is worked on that the next ones wait for. */
  #isBusy = false;
  /** Whether its memory is counted, or was given up. */
  #held: 'no' | 'counted' | 'given up' = 'no';
  /** 'leaving': its client has said goodbye; 'ending': the server has. */
  #state: 'open' | 'leaving' | 'ending' | 'closed' = 'open';
  #isLost = false;
  #endedAt = 0;

  constructor(socket: Socket, door: MqttDoor) {
    this.#socket = socket;
    this.#door = door;
    // An address is counted as that of a request; there is no header here in which proxies could tell another one.
    this.#sender = { socket, headers: {} };
    this.#since = this.#lastReadAt = door.now();
    socket.on('data', (bytes: Buffer) => this.#take(bytes));
    socket.on('drain', () => this.#goOn());
    socket.on('error', () => {});
    socket.on('close', () => this.#closed());
  }

  /** Whether it broke, so that its client knows of no acknowledgement that was not written. */
  get isLost(): boolean {
    return this.#isLost;
  }

  get access(): Access | null {
    return this.#client?.flow.access ?? null;
  }

  /** Messages without an outcome. */
  get underWay(): number {
    return this.#client?.flow.underWay ?? 0;
  }

  /** Looks at its times; called every second. */
  check(now: number): void {
    const client = this.#client;
    if (this.#state !== 'open') {
      if (this.#state !== 'closed' && now > this.#endedAt + END_MS && this.#isIdle()) this.#socket.destroy();
      return;
    }
    if (client === null) {
      if (now > this.#since + SIGN_IN_MS && !this.#isBusy) this.#socket.destroy();
      return;
    }
    client.session.forget(now, this, this.#since);
    const { expiresAt } = client.flow.access;
    if (expiresAt !== null && expiresAt <= now) this.recheck();
    const { keepAliveMs } = client;
    // While nothing is read, a client that speaks is not heard.
    if (keepAliveMs > 0 && now > this.#lastReadAt + keepAliveMs && this.#isIdle()) {
      this.end(REASONS.keepAliveTimeout);
      this.#socket.destroy();
    }
  }

  /** Looks up its token anew, which something has changed; without it the connection ends. */
  recheck(): void {
    void this.#client?.flow.recheck();
  }

  /** Another connection of the same client takes its place. */
  takeOver(): void {
    this.#isLost = true;
    this.end(REASONS.sessionTaken);
  }

  /** Reads no more, acknowledges what is under way, and says goodbye. */
  async stop(): Promise<void> {
    this.#isBusy = true;
    this.#socket.pause();
    await this.#client?.flow.stop();
    this.end(REASONS.shuttingDown);
    await new Promise<void>((resolve) => {
      if (this.#state === 'closed') return resolve();
      this.#socket.once('close', () => resolve());
      setTimeout(() => this.#socket.destroy(), END_MS / 4).unref();
    });
  }

  /** Ends it with a reason code of MQTT 5, which older clients are not told. */
  end(reasonCode: number, reasonString?: string): void {
    if (this.#state !== 'open' && this.#state !== 'leaving') return;
    const isTold = this.#version === 5 && this.#client !== null && this.#state === 'open';
    this.#state = 'ending';
    this.#endedAt = this.#door.now();
    this.#frames.clear();
    this.#flush();
    if (isTold) {
      const properties = reasonString === undefined ? {} : { properties: { reasonString } };
      this.#socket.write(writePacket({ cmd: 'disconnect', reasonCode, ...properties }, 5));
    }
    // What still comes is read and forgotten: unread bytes would cut off what is on its way to the client.
    this.#socket.end();
    this.#socket.resume();
  }

  #take(bytes: Buffer): void {
    if (this.#state === 'ending' || this.#state === 'leaving') return;
    this.#lastReadAt = this.#door.now();
    this.#frames.add(bytes);
    this.#goOn();
  }

  /** Reads on, as far as there is room. */
  #goOn(): void {
    try {
      while (!this.#mustWait()) {
        const frame = this.#frames.next();
        if (frame === null) break;
        this.#read(frame);
      }
    } catch (error) {
      if (!(error instanceof BrokenPacket)) throw error;
      this.#door.log.debug({ reason: error.reason, address: this.#socket.remoteAddress }, error.message);
      this.end(error.reason, error.message);
      if (this.#client === null) this.#socket.destroy();
    }
    this.#hold();
    if (this.#state === 'closed') return;
    if (this.#mustWait()) this.#socket.pause();
    else if (this.#socket.isPaused()) this.#socket.resume();
  }

  #mustWait(): boolean {
    if (this.#state === 'ending' || this.#state === 'leaving') return false;
    return this.#isBusy || !this.#isIdle() || (this.#state === 'open' && this.#socket.writableNeedDrain);
  }

  /** Whether it may have more messages. */
  #isIdle(): boolean {
    return this.#client === null || !this.#client.flow.isFull;
  }

  /** Tells how much it holds, also after its end; whoever holds most gives way. */
  #hold(): void {
    const bytes = this.#frames.held + (this.#client?.flow.bytes ?? 0);
    if (this.#held === 'given up') return;
    if (bytes > FREE_BYTES) {
      this.#held = 'counted';
      this.#door.bodies.hold(this.#sender, bytes, () => {
        this.#held = 'given up';
        this.#isLost = true;
        this.#frames.clear();
        this.#client?.flow.giveUp();
        this.end(REASONS.quotaExceeded, 'Too much is being sent to this server at once.');
        this.#socket.destroy();
      });
    } else if (this.#held === 'counted') {
      this.#held = 'no';
      this.#door.bodies.release(this.#sender);
    }
  }

  #read(frame: Frame): void {
    const client = this.#client;
    if (this.#state === 'ending' || this.#state === 'leaving') return;
    if (client === null) return this.#connect(frame);
    switch (frame.type) {
      case TYPES.publish:
        return this.#publish(readPublish(frame, this.#version === 5), client);
      case TYPES.pubrel: {
        const id = idOf(frame, 2);
        client.session.release(id);
        return client.flow.answer(shortAcknowledgement(TYPES.pubcomp, id, 0));
      }
      case TYPES.pingreq:
        return void this.#write(PONG);
      case TYPES.subscribe:
        idOf(frame, 2);
        return void this.#subscribe(readPacket(frame, this.#version) as ISubscribePacket, client);
      case TYPES.unsubscribe:
        idOf(frame, 2);
        return this.#unsubscribe(readPacket(frame, this.#version) as IUnsubscribePacket, client);
      case TYPES.disconnect:
        return this.#leave(client);
      case TYPES.puback:
      case TYPES.pubrec:
      case TYPES.pubcomp:
        // This server sends nothing that would be acknowledged.
        return;
      default:
        throw new BrokenPacket(REASONS.protocolError, 'A client does not send such a packet here.');
    }
  }

  #connect(frame: Frame): void {
    if (frame.type !== TYPES.connect) throw new BrokenPacket(REASONS.protocolError, 'The first packet is CONNECT.');
    const packet = readPacket(frame, 4) as IConnectPacket;
    this.#version = packet.protocolVersion ?? 4;
    this.#isBusy = true;
    void signIn(packet, this.#sender, this.#door).then((signedIn) => {
      this.#isBusy = false;
      if (this.#state !== 'open' || this.#door.isStopping) return this.#socket.destroy();
      if ('refusal' in signedIn) {
        this.#socket.end(signedIn.refusal);
        this.#state = 'ending';
        this.#endedAt = this.#door.now();
        return this.#socket.resume();
      }
      this.#welcome(packet, signedIn);
      return this.#goOn();
    });
  }

  #welcome(packet: IConnectPacket, signedIn: SignedIn): void {
    const { sessions, now, maxMessageBytes } = this.#door;
    const { access, clientId } = signedIn;
    const name = `${access.tokenId} ${clientId}`;
    const isClean = packet.clean ?? true;
    const { session, isPresent } = sessions.take(name, this, isClean);
    session.persists = this.#version === 5 ? signedIn.expirySeconds > 0 : !isClean;
    const shown = { id: clientId, connectedAt: now(), isConnected: true };
    const flow = new MessageFlow({
      door: this.#door,
      connection: this,
      access,
      session,
      shown,
      isVersion5: this.#version === 5,
      tellsProblems: packet.properties?.requestProblemInformation !== false,
      write: (bytes) => this.#write(bytes),
      goOn: () => this.#goOn(),
      end: (reason, text) => this.end(reason, text),
    });
    this.#client = { ...signedIn, name, session, flow, shown, keepAliveMs: (packet.keepalive ?? 0) * 1_500 };
    this.#frames.maxBytes = maxMessageBytes + MAX_CONNECT_BYTES;
    this.#write(welcome(this.#version, signedIn, isPresent, this.#frames.maxBytes));
  }

  #publish(packet: PublishPacket, { flow }: Client): void {
    this.#aliases.resolve(packet);
    // A connection that broke has nobody who waits; with QoS 0 nobody ever does.
    if (this.#state !== 'closed' || packet.qos === 0) flow.take(packet);
  }

  async #subscribe(packet: ISubscribePacket, { session, flow }: Client): Promise<void> {
    this.#isBusy = true;
    const refused = this.#version === 5 ? REASONS.notAuthorised : 0x80;
    const granted: number[] = [];
    for (const { topic } of packet.subscriptions) {
      const mayAsk = granted.length < MAX_SUBSCRIPTIONS && session.subscriptions.size < MAX_SUBSCRIPTIONS;
      // A database that is away refuses nothing for good: the client asks again.
      const look = (): Promise<boolean> => this.#door.topics.maySubscribe(flow.access, topic).catch(() => false);
      const isGranted = session.subscriptions.has(topic) || (mayAsk && (await look()));
      if (isGranted) session.subscriptions.add(topic);
      granted.push(isGranted ? 0 : refused);
    }
    this.#write(writePacket({ cmd: 'suback', messageId: packet.messageId ?? 0, granted }, this.#version));
    this.#isBusy = false;
    this.#goOn();
  }

  #unsubscribe(packet: IUnsubscribePacket, { session }: Client): void {
    const granted = packet.unsubscriptions.map((topic) => (session.subscriptions.delete(topic) ? 0 : NO_SUBSCRIPTION));
    this.#write(writePacket({ cmd: 'unsuback', messageId: packet.messageId ?? 0, granted }, this.#version));
  }

  /** Its client has got all that it waits for; what is under way is stored. */
  #leave({ session }: Client): void {
    session.forgetAll();
    this.#frames.clear();
    if (this.#state === 'closed') return;
    this.#state = 'leaving';
    this.#endedAt = this.#door.now();
    this.#flush();
    this.#socket.end();
  }

  /** Writes with whatever else is written in this turn: a commit acknowledges many messages at once. False: it has ended. */
  #write(bytes: Buffer): boolean {
    if (this.#state !== 'open') return false;
    if (this.#out.push(bytes) === 1) process.nextTick(() => this.#flush());
    return true;
  }

  #flush(): void {
    if (this.#out.length === 0) return;
    const [first, ...others] = this.#out;
    this.#out = [];
    if (first !== undefined) this.#socket.write(others.length === 0 ? first : Buffer.concat([first, ...others]));
  }

  #closed(): void {
    const isLost = this.#state === 'open' || this.#state === 'ending';
    const wasOpen = this.#state === 'open';
    this.#state = 'closed';
    this.#isLost ||= isLost;
    if (this.#client !== null) {
      const { shown, name, expirySeconds } = this.#client;
      shown.isConnected = false;
      this.#door.sessions.leave(
        name,
        this,
        this.#version === 5 && expirySeconds > 0 ? expirySeconds * 1_000 : undefined,
      );
    }
    // Messages of QoS 0 that were read already are stored.
    if (wasOpen && !this.#isBusy) this.#goOn();
    else this.#hold();
  }
}
