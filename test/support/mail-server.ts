import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

/** A mail as the server got it. */
interface ReceivedMail {
  from: string;
  to: string[];
  raw: string;
}

/** A mail server on this machine, for the user `inlet` with the password `secret`. */
export class MailServer {
  readonly mails: ReceivedMail[] = [];
  /** Addresses that it does not take. */
  refused = '';
  readonly #server: SMTPServer;

  private constructor() {
    this.#server = new SMTPServer({
      disabledCommands: ['STARTTLS'],
      authMethods: ['PLAIN', 'LOGIN'],
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _session, callback) =>
        username === 'inlet' && password === 'secret'
          ? callback(null, { user: 'inlet' })
          : callback(new Error('wrong password')),
      onRcptTo: ({ address }, _session, callback) =>
        callback(address === this.refused ? new Error('no such mailbox') : null),
      onData: (stream, { envelope }, callback) => {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          const { mailFrom, rcptTo } = envelope;
          this.mails.push({
            from: mailFrom === false ? '' : mailFrom.address,
            to: rcptTo.map(({ address }) => address),
            raw: Buffer.concat(chunks).toString(),
          });
          callback(null);
        });
      },
    });
  }

  static async start(): Promise<MailServer> {
    const server = new MailServer();
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', () => resolve()));
    return server;
  }

  get url(): string {
    return `smtp://inlet:secret@127.0.0.1:${(this.#server.server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.close(() => {});
  }
}
