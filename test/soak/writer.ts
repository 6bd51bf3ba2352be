import { ADMIN_TOKEN } from '../support/server-process.ts';
import { pause } from './pause.ts';

interface WriterOptions {
  deviceId: string;
  url: () => string;
  random: () => number;
}

/** Of moment 0; each is a second later. In the past, so that no clock matters. */
const START = Math.floor(Date.now() / 1000) - 1_000_000;
/** Of a value: the moment times this, and how many times it was written. */
const REVISIONS = 1000;
const PAGE = 500;

/** The moment of a value. */
export function momentOf(value: number): number {
  return Math.floor(value / REVISIONS);
}

/** Writes the moments of one device one after the other, each until it is acknowledged, and some of them again later. */
export class Writer {
  readonly deviceId: string;
  /** Moments that were perhaps written more than once: they may come again, and late. */
  readonly again = new Set<number>();
  moments = 0;
  corrected = 0;
  retried = 0;
  readonly #options: WriterOptions;
  readonly #revisions = new Map<number, number>();

  constructor(options: WriterOptions) {
    this.deviceId = options.deviceId;
    this.#options = options;
  }

  /** One more moment, which nobody need have seen. */
  async warmUp(): Promise<void> {
    this.again.add(this.moments);
    await this.#write([this.moments++]);
  }

  async run(isOver: () => boolean): Promise<void> {
    const below = (count: number): number => Math.floor(this.#options.random() * count);
    while (!isOver()) {
      if (below(10) === 0) {
        const moment = below(this.moments);
        this.again.add(moment);
        this.#revisions.set(moment, (this.#revisions.get(moment) ?? 0) + 1);
        this.corrected += 1;
        await this.#write([moment]);
      } else {
        const count = 1 + below(5);
        const moments = Array.from({ length: count }, (_, at) => this.moments + at);
        this.moments += count;
        await this.#write(moments);
      }
      await pause(below(30));
    }
  }

  /** One last moment: whoever has it has everything before it. */
  async finish(): Promise<void> {
    await this.#write([this.moments++]);
  }

  /** Moment → value, as the database has them. */
  async stored(url: string): Promise<Map<number, number>> {
    const found = new Map<number, number>();
    const query = `query ($id: ID!, $after: String) { device(id: $id) { measurements(field: "n", first: ${PAGE}, after: $after) {
      pageInfo { hasNextPage endCursor } edges { node { value } } } } }`;
    for (let after: string | null = null; ;) {
      const response = await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { Authorization: `Token ${ADMIN_TOKEN}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ query, variables: { id: this.deviceId, after } }),
      });
      const { data } = (await response.json()) as {
        data: {
          device: {
            measurements: {
              pageInfo: { hasNextPage: boolean; endCursor: string };
              edges: { node: { value: number } }[];
            };
          };
        };
      };
      const { pageInfo, edges } = data.device.measurements;
      for (const { node } of edges) found.set(momentOf(node.value), node.value);
      if (!pageInfo.hasNextPage) return found;
      after = pageInfo.endCursor;
    }
  }

  async #write(moments: number[]): Promise<void> {
    const entries = moments.map((moment) => {
      const value = moment * REVISIONS + (this.#revisions.get(moment) ?? 0);
      return { field: 'n', value, timestamp: START + moment };
    });
    for (let tried = 0; ; tried += 1) {
      const status = await this.#send(entries);
      if (status === 200) return;
      if (status !== 503 && status !== 0) throw new Error(`recording answered ${status}`);
      // It may have been stored all the same.
      for (const moment of moments) this.again.add(moment);
      this.retried += 1;
      await pause(20 + tried * 20);
    }
  }

  async #send(entries: unknown[]): Promise<number> {
    try {
      const response = await fetch(`${this.#options.url()}/v1/devices/${this.deviceId}/record/`, {
        method: 'POST',
        headers: { Authorization: `Token ${ADMIN_TOKEN}` },
        body: JSON.stringify(entries),
        signal: AbortSignal.timeout(10_000),
      });
      await response.arrayBuffer();
      return response.status;
    } catch {
      return 0;
    }
  }
}
