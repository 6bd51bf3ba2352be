import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import type { Authenticator } from '../domain/accounts/authenticator.ts';
import type { AppError } from '../errors.ts';
import type { Sessions } from './sessions.ts';
import type { TopicOutcome, TopicReceiver } from './topic-message.ts';

/** Whoever sends, as the doors of HTTP count addresses. */
export interface Sender {
  socket: Socket;
  headers: Record<string, never>;
}

/** Bounds sign-ins without a valid token: see `AnonymousRequests`. */
interface StrangerBounds {
  during<T>(sender: Sender, lookUp: () => Promise<T>): Promise<T>;
  addressOf(sender: Sender): string;
}

/** Bounds the memory of all senders: see `BodyMemory`. */
interface SenderMemory {
  hold(sender: Sender, bytes: number, giveUp: (error: AppError) => void): void;
  release(sender: Sender): void;
}

/** Everything that connections share. */
export interface MqttDoor {
  authenticator: Pick<Authenticator, 'authenticate' | 'cached' | 'present' | 'revision'>;
  anonymous: StrangerBounds;
  bodies: SenderMemory;
  topics: TopicReceiver;
  sessions: Sessions;
  maxMessageBytes: number;
  /** Whether the server takes no more connections. */
  readonly isStopping: boolean;
  /** Counts a message whose outcome is final. */
  onReceived: (outcome: Pick<TopicOutcome, 'code'>) => void;
  now: () => number;
  log: Logger;
}
