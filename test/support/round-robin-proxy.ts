import { Agent, createServer, request as ask } from 'node:http';

/**
 * A load balancer as small as can be: each request goes to the next node that was ready at the last look, over kept
 * connections, and is never sent twice.
 */
export class RoundRobinProxy {
  readonly url: string;
  readonly stop: () => Promise<void>;

  private constructor(url: string, stop: () => Promise<void>) {
    this.url = url;
    this.stop = stop;
  }

  /** `nodes`: base URLs; looks at their `readyz` every `lookEveryMs`. */
  static async start(nodes: string[], lookEveryMs: number): Promise<RoundRobinProxy> {
    const agent = new Agent({ keepAlive: true });
    let ready: string[] = [];
    let next = 0;
    const look = async (): Promise<void> => {
      const found = await Promise.all(
        nodes.map((node) =>
          fetch(`${node}/readyz`, { signal: AbortSignal.timeout(2_000) }).then(
            ({ ok }) => ok,
            () => false,
          ),
        ),
      );
      ready = nodes.filter((_, at) => found[at]);
    };
    await look();
    const state = { looking: true };
    const looking = (async () => {
      while (state.looking) {
        await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
        await look();
      }
    })();
    const server = createServer((incoming, outgoing) => {
      const node = ready[next++ % Math.max(1, ready.length)];
      if (node === undefined) return outgoing.writeHead(502).end('no node is ready');
      const { method, url, headers } = incoming;
      const onward = ask(`${node}${url}`, { method, headers, agent }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      });
      onward.on('error', (error) => outgoing.writeHead(502).end(error.message));
      return incoming.pipe(onward);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    return new RoundRobinProxy(`http://127.0.0.1:${port}`, async () => {
      state.looking = false;
      await looking;
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      agent.destroy();
    });
  }
}
