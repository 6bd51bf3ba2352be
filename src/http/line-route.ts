import { AppError } from '../errors.ts';
import { precisionOf } from '../domain/lines/line-entries.ts';
import { UNPARSED } from '../domain/lines/line-protocol.ts';
import type { LineReceiver, LinesOutcome } from '../domain/receiving/line-receiver.ts';
import { bodyText } from '../domain/text/body-text.ts';
import { type InvalidInputThrottle, unexplainedPart } from '../scheduling/invalid-input-throttle.ts';
import { type BodyBounds, isSenderGone, readBody } from './body.ts';
import { respondAsInflux } from './influx-answers.ts';
import type { RequestTurns } from './request-turns.ts';
import type { Handler, TokenHandler } from './routes.ts';

/** Maximum bytes of a value with its line's names around it, and of the shortest. */
const [OF_A_VALUE, OF_LEAST_VALUE] = [4_096, 4];

interface LineRouteDeps {
  receiver: LineReceiver;
  bounds: BodyBounds;
  refused: InvalidInputThrottle;
  turns: Pick<RequestTurns, 'run'>;
  now: () => number;
}

/** `POST /write` and `POST /api/v2/write`: InfluxDB's line protocol, answered after the commit as InfluxDB answers. */
export function lineRoute({ receiver, bounds, refused, turns, now }: LineRouteDeps): TokenHandler {
  return async (context, access) => {
    const { req: request } = context;
    const { tenant, tokenId } = access;
    // FORBIDDEN, also for a body without any line.
    access.workspaceIdsWith('RECORD');
    const asked = context.query['precision'];
    const precision = typeof asked === 'object' ? null : precisionOf(asked ?? '');
    if (precision === null)
      throw new AppError(
        'BAD_USER_INPUT',
        `precision "${String(asked).slice(0, 50)}": expected ns, us, ms, s, m or h.`,
      );
    const body = await readBody(request, bounds, { tenant, tokenId });
    const receive = (): Promise<LinesOutcome> =>
      receiver.receive(access, {
        text: bodyText(body, request.headers['content-type']),
        precision,
        receivedAt: now(),
      });
    const { length: bytes } = body;
    const sent = {
      tenant,
      source: tokenId,
      bytes,
      maxEntries: bytes / OF_LEAST_VALUE,
      isAbandoned: (): boolean => isSenderGone(request),
    };
    const outcome = await refused.run(
      sent,
      () => turns.run({ tenant, tokenId }, receive),
      ({ stored, refusedValues: entries }) => {
        const part = entries === 0 ? 0 : entries / (stored + entries);
        return { part: Math.max(part, unexplainedPart(bytes, stored * OF_A_VALUE)), entries };
      },
    );
    const { first, refusedLines } = outcome;
    if (first === null) {
      context.status = 204;
      return;
    }
    context.respond = false;
    const said = `line ${first.line}: ${first.reason}`;
    // Senders know two beginnings of what they need not send again: this, and that of a line that cannot be parsed.
    const isPartial = outcome.stored > 0 || !first.reason.startsWith(UNPARSED);
    const message = `${isPartial ? 'partial write: ' : ''}${said} dropped=${refusedLines}`;
    respondAsInflux(context, { status: 400, message, line: first.line });
  };
}

/** `/query`: answers `CREATE DATABASE`, which Telegraf sends before it writes; there is nothing to create. */
export function lineQueryRoute(bounds: BodyBounds): TokenHandler {
  return async (context, access) => {
    access.workspaceIdsWith('RECORD');
    const { tenant, tokenId } = access;
    const inUrl = context.query['q'];
    const body = context.method === 'POST' ? await readBody(context.req, bounds, { tenant, tokenId }) : null;
    const query = typeof inUrl === 'string' ? inUrl : (new URLSearchParams(body?.toString('latin1')).get('q') ?? '');
    if (!/^\s*create\s+database\s/i.test(query))
      throw new AppError(
        'BAD_USER_INPUT',
        'Only CREATE DATABASE is answered here, which needs nothing; values are read by GraphQL or as files.',
      );
    context.body = { results: [{ statement_id: 0 }] };
  };
}

/** `/ping`, as InfluxDB 1 answers it. */
export const pingRoute: Handler = (context) => {
  context.set('X-Influxdb-Version', 'inlet');
  context.set('X-Influxdb-Build', 'inlet');
  const isVerbose = context.query['verbose'] !== undefined && context.query['verbose'] !== 'false';
  if (isVerbose) context.body = { version: 'inlet' };
  else context.status = 204;
};

/** `/health`, as InfluxDB 2 answers it. */
export const healthOfInflux: Handler = (context) => {
  context.body = {
    name: 'inlet',
    message: 'ready for queries and writes',
    status: 'pass',
    checks: [],
    version: 'inlet',
  };
};
