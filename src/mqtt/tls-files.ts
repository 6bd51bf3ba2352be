import { readFileSync, statSync } from 'node:fs';
import type { ServerOpts } from 'node:net';
import { createSecureContext, createServer, type Server } from 'node:tls';
import type { Logger } from 'pino';

/** Maximum time of a handshake. */
const HANDSHAKE_MS = 10_000;

/** A certificate and its key in files, which are read again when they change. */
export class TlsFiles {
  readonly #files: { certFile: string; keyFile: string };
  readonly #log: Logger;
  #server: Server | null = null;
  /** When the files that were tried last were written. */
  #stamp = '';

  constructor(files: { certFile: string; keyFile: string }, log: Logger) {
    this.#files = files;
    this.#log = log;
  }

  get running(): Server | null {
    return this.#server;
  }

  /** A server with the present certificate. Throws what is wrong with the files. */
  server(options: ServerOpts): Server {
    this.#stamp = this.#stampNow();
    const server = createServer({ ...options, ...this.#read(), handshakeTimeout: HANDSHAKE_MS });
    server.on('tlsClientError', (error, { remoteAddress }) =>
      this.#log.debug({ reason: error.message, address: remoteAddress }, 'MQTT: a TLS handshake failed'),
    );
    this.#server = server;
    return server;
  }

  /** Takes over files that have changed; with broken ones the old certificate stays. */
  check(): void {
    try {
      const stamp = this.#stampNow();
      if (stamp === this.#stamp) return;
      this.#stamp = stamp;
      this.#server?.setSecureContext(this.#read());
      this.#log.info({ certFile: this.#files.certFile }, 'MQTT: the certificate was read again');
    } catch (error) {
      // Half of a pair has been written: the other half changes the stamp again.
      this.#log.warn({ err: error }, 'MQTT: the new certificate cannot be used, the old one stays');
    }
  }

  #read(): { cert: Buffer; key: Buffer; minVersion: 'TLSv1.2' } {
    const { certFile, keyFile } = this.#files;
    const pair = { cert: readFileSync(certFile), key: readFileSync(keyFile), minVersion: 'TLSv1.2' } as const;
    createSecureContext(pair);
    return pair;
  }

  #stampNow(): string {
    const { certFile, keyFile } = this.#files;
    return [certFile, keyFile].map((path) => `${statSync(path).mtimeMs} ${statSync(path).ino}`).join(' ');
  }
}
