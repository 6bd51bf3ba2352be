/** A request to a receiver outside. */
export interface OutgoingRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** A plain text mail. */
export interface OutgoingMail {
  to: readonly string[];
  subject: string;
  text: string;
  /** The same over all tries of one delivery. */
  messageId: string;
}

/** The outcome of a try. */
export interface TransmissionResult {
  /** True when the receiver has taken it. */
  isDone: boolean;
  httpStatus: number | null;
  /** The reason why it was not taken; null: it was, or `httpStatus` says it. */
  error: string | null;
  /** The first 4 kB of the answer; null: there was none. */
  answer: string | null;
  /** Delay that the receiver asked for, in ms. */
  retryAfterMs: number | null;
}

/** The way out: to addresses that the operator allows, within bounded time and memory. Never rejects. */
export interface Transmitter {
  /** Whether mails can be sent (`SMTP_URL`). */
  readonly sendsMail: boolean;
  post(request: OutgoingRequest): Promise<TransmissionResult>;
  mail(mail: OutgoingMail): Promise<TransmissionResult>;
}
