import type { Transporter } from 'nodemailer';
import type { OutgoingMail, TransmissionResult } from '../domain/ports/transmitter.ts';
import { ANSWER_MS, failed, keptText } from './http-post.ts';

/** Maximum connections to the mail server. */
const CONNECTIONS = 4;

/** Where mails go, and from whom they are. */
export interface MailSettings {
  /** `smtp:` or `smtps:`, perhaps with user and password. */
  url: string;
  from: string;
}

/** Sends mails through one server. */
export class SmtpMail {
  readonly #transport: Promise<Transporter>;
  readonly #from: string;
  readonly #host: string;

  constructor({ url, from }: MailSettings) {
    const waits = { connectionTimeout: ANSWER_MS, greetingTimeout: ANSWER_MS, socketTimeout: ANSWER_MS };
    const bounds = { pool: true, maxConnections: CONNECTIONS, disableFileAccess: true, disableUrlAccess: true };
    this.#transport = createTransport({ url, ...waits, ...bounds });
    // Told by each mail.
    this.#transport.catch(() => {});
    this.#from = from;
    this.#host = from.slice(from.lastIndexOf('@') + 1).replace(/[^\w.-].*$/, '');
  }

  /** Never rejects; done when the server has taken it for at least one address. */
  async send({ to, subject, text, messageId }: OutgoingMail): Promise<TransmissionResult> {
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`No answer within ${ANSWER_MS / 1000} s.`)), ANSWER_MS);
    });
    try {
      const transport = await this.#transport;
      const sent = await Promise.race([
        transport.sendMail({
          from: this.#from,
          to: to.map((address) => ({ name: '', address })),
          subject,
          text,
          messageId: `<${messageId}@${this.#host}>`,
          headers: { 'Auto-Submitted': 'auto-generated' },
        }),
        tooLate,
      ]);
      const { response = '', rejected = [] } = sent as { response?: string; rejected?: unknown[] };
      const error = rejected.length === 0 ? null : `Refused: ${rejected.map(String).join(', ')}`;
      return { isDone: true, httpStatus: null, error, answer: keptText(response), retryAfterMs: null };
    } catch (error) {
      const { message, response } = error as Error & { response?: string };
      return { ...failed(keptText(message).slice(0, 500)), answer: response === undefined ? null : keptText(response) };
    } finally {
      clearTimeout(timer);
    }
  }

  stop(): void {
    this.#transport.then(
      (transport) => transport.close(),
      () => {},
    );
  }
}

/** Loads the library only where mails are sent: 0.4 MB of source. */
async function createTransport(options: object): Promise<Transporter> {
  const nodemailer = await import('nodemailer');
  return nodemailer.createTransport(options);
}
