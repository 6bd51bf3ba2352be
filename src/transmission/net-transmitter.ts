import type { OutgoingMail, OutgoingRequest, TransmissionResult, Transmitter } from '../domain/ports/transmitter.ts';
import type { AddressSettings } from './address-rules.ts';
import { addressesOf } from './host-addresses.ts';
import { failed, HttpPost } from './http-post.ts';
import { type MailSettings, SmtpMail } from './smtp-mail.ts';

/** The way out over HTTP and SMTP. */
export class NetTransmitter implements Transmitter {
  readonly #http: HttpPost;
  readonly #mail: SmtpMail | null;

  /** `mail` null: none is sent. */
  constructor({ mail, ...addresses }: AddressSettings & { mail: MailSettings | null }) {
    this.#http = new HttpPost({ ...addresses, addressesOf });
    this.#mail = mail && new SmtpMail(mail);
  }

  get sendsMail(): boolean {
    return this.#mail !== null;
  }

  post(request: OutgoingRequest): Promise<TransmissionResult> {
    return this.#http.post(request);
  }

  async mail(mail: OutgoingMail): Promise<TransmissionResult> {
    return this.#mail === null ? failed('This server sends no mails: SMTP_URL is not set.') : this.#mail.send(mail);
  }

  stop(): void {
    this.#http.stop();
    this.#mail?.stop();
  }
}
