import { readFileSync } from 'node:fs';
import { buildSchema, type GraphQLSchema } from 'graphql';
import { ADMIN_TOKEN, ServerProcess } from '../../support/server-process.ts';
import type { TestServer } from '../../support/server.ts';
import { ask, type Answer, follow } from './ask.ts';
import type { Gauge, Measured } from './gauge.ts';
import { missingWays } from './missing-ways.ts';
import type { Width } from './operation.ts';
import { nameOf, objectTypes } from './paths.ts';
import { planOf, type Step } from './plan.ts';
import { Maker, type World } from './world.ts';

/** Types of a server with more around it: replicas are asked for by `test/faults/replicas.test.ts`. */
const NOT_HERE: ReadonlySet<string> = new Set(['Replica']);

/** Nobody is to be held up for longer (issue 9). */
const PIECE_MS = 100;
const GROWN_MB = 200;
/** One time is chance, on a machine with others. */
const AGAIN = 2;
/** After so many of a type that take long and do no harm its other values are asked as narrowly as can be. */
const SLOW_MS = 2_500;
const SLOW_ONES = 3;
/** The price or shape is over a limit: something narrower may be asked. */
const TOO_WIDE =
  /^QUERY_TOO_COMPLEX (?:cost|depth|root fields|aliases|equal fields|directives|fields|field comparisons|tokens)$/;

/** What is wrong with one step; `what`: in a word. */
export interface Finding {
  what: string;
  step: string;
  [more: string]: unknown;
}

/** What came of the walk. */
export interface Walked {
  steps: number;
  operations: number;
  byCode: Record<string, number>;
  /** The longest first. */
  longest: { step: string; pieceMs: number; grownMb: number; ms: number }[];
  findings: Finding[];
}

/** How far it goes. */
export interface WalkOptions {
  withinMs: number;
  /** Only steps whose name it fits; what no step asked for is not missed then. */
  only?: RegExp;
  /** Each field by its first way alone, a little wide. */
  short?: boolean;
  gauge?: Gauge;
  onFinding?: (finding: Finding) => void;
}

/** The schema as it is written down. */
export function readSchema(): GraphQLSchema {
  return buildSchema(readFileSync(new URL('../../../schema.graphql', import.meta.url), 'utf8'));
}

/** Asks a server for everything that the schema has, as widely as it is allowed, and looks what that costs it. */
export function walk(server: TestServer, world: World, options: WalkOptions): Promise<Walked> {
  return new Walk(server, world, options).run();
}

class Walk {
  readonly #server: TestServer;
  readonly #world: World;
  readonly #options: WalkOptions;
  readonly #schema = readSchema();
  readonly #maker: Maker;
  readonly #covered = new Set<string>();
  readonly #slow = new Map<string, number>();
  readonly #walked: Walked = { steps: 0, operations: 0, byCode: {}, longest: [], findings: [] };

  constructor(server: TestServer, world: World, options: WalkOptions) {
    this.#server = server;
    this.#world = world;
    this.#options = options;
    this.#maker = new Maker(server, world);
  }

  async run(): Promise<Walked> {
    for (const step of missingWays(this.#schema)) this.#found({ what: 'no way', step });
    const { withinMs, only, short } = this.#options;
    const until = performance.now() + withinMs;
    let isWhole = only === undefined;
    for (const step of planOf(this.#schema, this.#world)) {
      if (only !== undefined && !only.test(step.name)) continue;
      if (short === true && (step.covers.length === 0 || step.covers.every((name) => this.#covered.has(name))))
        continue;
      if (performance.now() > until) {
        this.#found({ what: 'time is over', step: step.name });
        isWhole = false;
        break;
      }
      await this.#take(step);
      if (this.#isGone()) {
        this.#found({ what: 'the server is gone', step: step.name });
        isWhole = false;
        break;
      }
    }
    if (isWhole) this.#missed();
    return this.#walked;
  }

  /** Of a server that has a process of its own; of another no step is answered any more. */
  #isGone(): boolean {
    const { process } = this.#server;
    return process instanceof ServerProcess && (process.child.exitCode !== null || process.child.signalCode !== null);
  }

  /** What the schema has and no answer had. */
  #missed(): void {
    const types = objectTypes(this.#schema).filter(({ name }) => !NOT_HERE.has(name));
    for (const type of types)
      for (const field of Object.values(type.getFields()))
        if (!this.#covered.has(nameOf(type, field))) this.#found({ what: 'never answered', step: nameOf(type, field) });
  }

  async #take(step: Step): Promise<void> {
    this.#walked.steps += 1;
    let widest = 0;
    for (const width of this.#widths(step)) {
      if (width.names <= widest) continue;
      const asked = await this.#ask(step, width);
      if (asked === null) return;
      if (TOO_WIDE.test(asked.code)) continue;
      this.#look(step, width, asked);
      if (asked.pieceMs > PIECE_MS || asked.grownMb > GROWN_MB) await this.#askAgain(step, width, asked);
      if (!step.eachPage || this.#options.short === true) return;
      widest = width.names;
    }
  }

  #widths({ covers, widths, eachPage }: Step): readonly Width[] {
    // A field with equal arguments may be there three times: under more names it is refused.
    if (this.#options.short === true) return widths.filter(({ names, first }) => names <= 3 && first <= 50);
    const isSlow = !eachPage && (this.#slow.get(covers[0]?.split('.')[0] ?? '') ?? 0) >= SLOW_ONES;
    return isSlow ? widths.slice(-1) : widths;
  }

  async #ask(step: Step, width: Width, isAgain = false): Promise<(Answer & Measured) | null> {
    const { mutation, subscription } = step;
    const { gauge } = this.#options;
    try {
      const made = await mutation?.make?.(this.#maker);
      const operation = step.write(width, made);
      const { secrets, person, next } = this.#world;
      const secret = mutation?.byPerson === true ? person.secret : secrets[next() % secrets.length]!;
      if (gauge !== undefined) await gauge.begin(this.#server.process.child.pid!, isAgain);
      const answer =
        subscription === undefined
          ? await ask(this.#server, operation, secret)
          : await follow(this.#server, operation, secret, () => this.#happens(step));
      this.#walked.operations += 1;
      return { ...answer, ...((await gauge?.end()) ?? { pieceMs: 0, grownMb: 0 }) };
    } catch (error) {
      this.#found({ what: 'no answer', step: step.name, ...width, error: String(error).slice(0, 300) });
      return null;
    }
  }

  #happens({ subscription }: Step): Promise<unknown> {
    const { webhookId } = this.#world;
    const record = (device: string, entries: unknown[]): Promise<unknown> => this.#server.record(device, entries);
    const call = (): Promise<unknown> =>
      fetch(`${this.#server.url}/integrations/api/${webhookId}/`, {
        method: 'POST',
        headers: { Authorization: `Token ${ADMIN_TOKEN}` },
        body: 'x',
      });
    return subscription!.happens(this.#world, record, call);
  }

  #look(
    { name: step, covers }: Step,
    width: Width,
    { status, code, isAnswered, ms, pieceMs, grownMb }: Answer & Measured,
  ): void {
    const { byCode, longest } = this.#walked;
    byCode[code] = (byCode[code] ?? 0) + 1;
    if (isAnswered && code === 'ok') for (const name of covers) this.#covered.add(name);
    if (status >= 500 || code === 'INTERNAL') this.#found({ what: 'internal error', step, ...width, status, code });
    const { lines } = this.#server.process;
    for (const line of lines.splice(0))
      if (line['level'] === 'error' || 'line' in line)
        this.#found({ what: 'error in the log', step, ...width, line: JSON.stringify(line).slice(0, 1000) });
    longest.push({ step, pieceMs, grownMb, ms });
    longest.sort((a, b) => b.pieceMs - a.pieceMs || b.ms - a.ms);
    longest.length = Math.min(longest.length, 12);
    const type = covers[0]?.split('.')[0] ?? '';
    if (ms > SLOW_MS && pieceMs < PIECE_MS) this.#slow.set(type, (this.#slow.get(type) ?? 0) + 1);
  }

  async #askAgain(step: Step, width: Width, first: Answer & Measured): Promise<void> {
    const all = [first];
    while (all.length <= AGAIN) {
      const again = await this.#ask(step, width, true);
      if (again === null) return;
      all.push(again);
    }
    const pieces = all.map(({ pieceMs }) => pieceMs);
    const grown = all.map(({ grownMb }) => grownMb);
    const more = { step: step.name, ...width, code: first.code, ms: all.map(({ ms }) => ms) };
    if (Math.min(...pieces) > PIECE_MS) this.#found({ what: 'one piece', ...more, pieces });
    if (Math.min(...grown) > GROWN_MB) this.#found({ what: 'memory', ...more, grown });
  }

  #found(finding: Finding): void {
    this.#walked.findings.push(finding);
    this.#options.onFinding?.(finding);
  }
}
