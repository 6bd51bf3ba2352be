import type { OutgoingMail, OutgoingRequest, TransmissionResult, Transmitter } from '../domain/ports/transmitter.ts';
import type { AddressSettings } from './address-rules.ts';
import { addressesOf } from './host-addresses.ts';
import { failed, HttpPost } from './http-post.ts';

/** The way out over HTTP and SMTP. */
export class NetTransmitter implements Transmitter {
  readonly #http: HttpPost;

  constructor(settings: AddressSettings) {
    this.#http = new HttpPost({ ...settings, addressesOf });
  }

  get sendsMail(): boolean {
    return false;
  }

  post(request: OutgoingRequest): Promise<TransmissionResult> {
    return this.#http.post(request);
  }

  mail(_mail: OutgoingMail): Promise<TransmissionResult> {
    return Promise.resolve(failed('This server sends no mails: SMTP_URL is not set.'));
  }

  stop(): void {
    this.#http.stop();
  }
}
