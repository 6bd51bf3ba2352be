import { connect, createServer, type Socket } from 'node:net';

interface Traffic {
  silent: boolean;
  open: Set<Socket>;
}

/**
 * A way to a server on which packets can vanish: nothing is reset or closed, and connections that lost some stay dead
 * for ever, as behind a firewall that forgot them.
 */
export class SilentProxy {
  readonly port: number;
  readonly #stop: () => Promise<void>;
  readonly #state: Traffic;

  private constructor(port: number, state: Traffic, stop: () => Promise<void>) {
    this.port = port;
    this.#state = state;
    this.#stop = stop;
  }

  static async start(to: { host: string; port: number }): Promise<SilentProxy> {
    const state: Traffic = { silent: false, open: new Set() };
    const server = createServer((near) => {
      const far = state.silent ? null : connect(to.port, to.host);
      let dead = far === null;
      const carry = (from: Socket, into: Socket | null): void => {
        from.on('data', (chunk) => {
          dead ||= state.silent;
          if (!dead) into?.write(chunk);
        });
        from.on('error', () => {});
        from.on('close', () => {
          state.open.delete(from);
          if (!dead && !state.silent) into?.destroy();
        });
        state.open.add(from);
      };
      carry(near, far);
      if (far !== null) carry(far, near);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    return new SilentProxy(port, state, async () => {
      for (const socket of state.open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    });
  }

  /** The URL with the proxy's port instead of the server's. */
  static async before(url: string): Promise<{ proxy: SilentProxy; url: string }> {
    const parsed = new URL(url);
    const proxy = await SilentProxy.start({ host: parsed.hostname, port: Number(parsed.port) });
    parsed.hostname = '127.0.0.1';
    parsed.port = String(proxy.port);
    return { proxy, url: parsed.href };
  }

  set silent(silent: boolean) {
    this.#state.silent = silent;
  }

  stop(): Promise<void> {
    return this.#stop();
  }
}
