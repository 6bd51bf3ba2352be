import { AppError, badInput } from '../../errors.ts';
import type { Access } from '../access/access.ts';
import type { Asker } from '../devices/device-scan.ts';
import type { Device } from '../entities/device.ts';
import type { DeviceChoice } from '../history/device-choice.ts';
import type { History } from '../history/history.ts';
import type { PointBudget } from '../history/point-budget.ts';
import { checkRange } from '../history/series-plan.ts';
import type { DeviceInfo, FieldInfo } from '../ingest-cache/ingest-cache.ts';
import type { GivenRule } from './check-rule.ts';
import { conditionsOf, fieldsOf, type RuleDefinition, SEVERITIES, type Severity } from './definition.ts';
import { configuredValues } from './configured-values.ts';
import { judgeHistory } from './judge-history.ts';
import { freshState, type Transition } from './judge-state.ts';
import { RuleJudge } from './rule-judge.ts';
import type { RuleService } from './rule-service.ts';
import { shownValues } from './shown-rule.ts';
import { windowsOf } from './windows.ts';

/** Maximum values that one trial judges. */
const MAX_VALUES = 5_000_000;
/** Maximum values in all windows of one trial. */
const MAX_IN_WINDOWS = 200_000_000;
/** Maximum episodes per trial. */
const MAX_EPISODES = 10_000;

/** An alert that a rule would have made; times in ms UTC. */
interface Episode {
  device: Device;
  severity: Severity;
  startedAt: number;
  firedAt: number | null;
  endedAt: number | null;
  values: Record<string, unknown>;
}

interface TrialQuery {
  ruleId?: string | null | undefined;
  productId?: string | null | undefined;
  input?: GivenRule | null | undefined;
  deviceIds?: readonly string[] | null | undefined;
  /** ms UTC; start inclusive, end exclusive. */
  from: number;
  to: number;
}

/** Who asks, and pays. */
interface Asking {
  points: PointBudget;
  asker: Asker;
}

interface RuleTrialDeps {
  rules: RuleService;
  choice: DeviceChoice;
  history: History;
  now: () => number;
}

/** Work of one trial so far. */
interface Spent {
  values: number;
  inWindows: number;
  episodes: Episode[];
}

/** Runs rules over stored history (contract `testRule`): nobody is told, nothing is stored. */
export class RuleTrial {
  readonly #deps: RuleTrialDeps;

  constructor(deps: RuleTrialDeps) {
    this.#deps = deps;
  }

  /** The episodes that had fired and were not over by `from`, for each device in order, oldest first. */
  async run(access: Access, query: TrialQuery, { points, asker }: Asking): Promise<Episode[]> {
    checkRange(query);
    const { productId, tags, definition } = await this.#ruleOf(access, query);
    const chosen = await this.#deps.choice.choose(
      access,
      query.deviceIds == null ? { productId } : { deviceIds: query.deviceIds },
      asker,
    );
    chosen.forEach(({ info }, index) => {
      if (info.productId !== productId) throw badInput(`deviceIds[${index}]: this device is of another product.`);
    });
    const spent: Spent = { values: 0, inWindows: 0, episodes: [] };
    for (const { device, info } of chosen)
      if (tags.every((tag) => device.tags.includes(tag)))
        await this.#runOne(device, info, definition, { query, points, spent });
    return spent.episodes;
  }

  async #ruleOf(
    access: Access,
    { ruleId, productId, input }: TrialQuery,
  ): Promise<{ productId: string; tags: readonly string[]; definition: RuleDefinition }> {
    if ((ruleId == null) === (input == null)) throw badInput('testRule: give either "ruleId" or "input".');
    if (ruleId != null) {
      const { tags, definition, productId: own } = await this.#deps.rules.get(access, ruleId);
      if (productId != null && productId.toLowerCase() !== own)
        throw badInput('productId: the rule is of another product; leave it out.');
      return { productId: own, tags, definition };
    }
    if (productId == null) throw badInput('productId: say of which product the rule in "input" is to be.');
    return { ...(await this.#deps.rules.check(access, productId, input!)), productId: productId.toLowerCase() };
  }

  async #runOne(
    device: Device,
    info: DeviceInfo,
    definition: RuleDefinition,
    { query: { from, to }, points, spent }: { query: TrialQuery; points: PointBudget; spent: Spent },
  ): Promise<void> {
    const fields = judgedFields(definition, info);
    const windows = windowsOf(definition);
    const lead = Math.max(0, ...windows.map(({ window }) => window.seconds * 1_000));
    const range = { from: from - lead, to, limit: MAX_VALUES - spent.values };
    const columns = await this.#deps.history.columns(info, fields, range, points);
    spent.values += columns.reduce((sum, { timestamps }) => sum + timestamps.length, 0);
    if (spent.values > MAX_VALUES || columns.some(({ truncated }) => truncated))
      throw tooMuch(`more than ${MAX_VALUES} values`);
    const judge = new RuleJudge(definition, freshState(definition), configuredValues(info));
    const isSilent = conditionsOf(definition).some(({ kind, field }) => kind === 'absent' && field === null);
    const gather = gathering(device, info, from, spent);
    const onStride = (inWindows: number): void => {
      spent.inWindows += inWindows;
      if (spent.inWindows > MAX_IN_WINDOWS) throw tooMuch(`windows with more than ${MAX_IN_WINDOWS} values in all`);
      gather(judge.taken());
      points.check();
    };
    await judgeHistory(judge, { definition, fields, columns, from, hears: isSilent, onStride });
    judge.clock(Math.min(to, this.#deps.now()));
    gather(judge.taken());
    gather(null);
  }
}

/** Makes episodes of changes; called with null at the end, for the one that is still on. */
function gathering(
  device: Device,
  info: DeviceInfo,
  from: number,
  spent: Spent,
): (transitions: readonly Transition[] | null) => void {
  const shown = { fields: [...info.product.fieldsByKey.values()], configuration: [] };
  let open: Episode | null = null;
  const close = (endedAt: number | null): void => {
    if (open !== null && (endedAt === null || endedAt >= from)) spent.episodes.push({ ...open, endedAt });
    open = null;
    if (spent.episodes.length > MAX_EPISODES) throw tooMuch(`more than ${MAX_EPISODES} episodes`);
  };
  return (transitions) => {
    if (transitions === null) close(null);
    for (const { state, severity, startedAt, firedAt, endedAt, values } of transitions ?? []) {
      if (firedAt === null) continue;
      if (state === 'RESOLVED') close(endedAt);
      else if (open === null)
        open = { device, severity, startedAt, firedAt, endedAt: null, values: shownValues(values, shown) };
      else if (SEVERITIES.indexOf(severity) > SEVERITIES.indexOf(open.severity)) open.severity = severity;
    }
  };
}

/** The fields whose values are read: those of the rule, or all where silence of the device counts. */
function judgedFields(definition: RuleDefinition, { product }: DeviceInfo): FieldInfo[] {
  const keys = fieldsOf(definition);
  const all = [...product.fieldsByKey.values()];
  const isSilent = conditionsOf(definition).some(({ kind, field }) => kind === 'absent' && field === null);
  return isSilent ? all : all.filter(({ key }) => keys.has(key));
}

function tooMuch(what: string): AppError {
  return new AppError('QUERY_TOO_COMPLEX', `testRule: ${what}; choose fewer "deviceIds" or a shorter range.`);
}
