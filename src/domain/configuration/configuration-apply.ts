import type { EntityManager } from '@mikro-orm/sql';
import { AppError, badInput } from '../../errors.ts';
import type { Access } from '../access/access.ts';
import { holdRights } from '../access/hold-rights.ts';
import { authorOf } from '../access/who-is.ts';
import { changeOfDevices } from '../devices/change-of-devices.ts';
import type { Suggestions } from '../measurements/suggestions.ts';
import type { HistoryAtRisk } from '../plans/history-at-risk.ts';
import { encodeCursor } from '../live/feed-cursor.ts';
import type { Plans } from '../plans/plans.ts';
import type { Cluster } from '../ports/cluster.ts';
import type { Database } from '../ports/database.ts';
import type { MeasurementStore } from '../ports/store.ts';
import type { FieldRemovals } from '../products/field-removals.ts';
import type { ProductService } from '../products/product-service.ts';
import { type Applied, forgetApplied, leaveApplied, writeApplied } from './applied-objects.ts';
import type { ConfigurationInput, ConfigurationPlan, ConfigurationPlans } from './configuration-plans.ts';
import { namesIn } from './normal-form.ts';
import { draftsOf, type Draught, draughtOf } from './planner.ts';
import { type Section, SECTIONS } from './read-document.ts';
import type { Block, Tree } from './shape.ts';
import { writeMembers, writeTokens } from './write-access.ts';
import { writeDashboards } from './write-dashboards.ts';
import { writeEndpoints } from './write-endpoints.ts';
import { keysOfGone, writeDevices, type WrittenDevices } from './write-devices.ts';
import { writeDecoders } from './write-decoders.ts';
import { changesRules, type RulesAround, writeRules } from './write-rules.ts';
import { type ForgottenField, writeConfigurationFields, writeFields } from './write-fields.ts';
import { beginDeletions, writeProducts, type Writing } from './write-products.ts';
import { must } from '../../must.ts';

/** Devices locked by one statement. */
const LOCKED_AT_ONCE = 1_000;

/** The services that an apply needs. */
export interface ConfigurationApplyDeps {
  database: Database;
  cluster: Cluster;
  store: Pick<MeasurementStore, 'settlePurges' | 'position'>;
  planning: ConfigurationPlans;
  plans: Plans;
  atRisk: HistoryAtRisk;
  products: Pick<ProductService, 'finishDeletion'>;
  removals: FieldRemovals;
  suggestions: Pick<Suggestions, 'flush'>;
  rules: Omit<RulesAround, 'position'>;
  /** Whether this server can send mails. */
  sendsMail: boolean;
  /** Called after endpoints may have changed. */
  onEndpoints: () => void;
  now: () => number;
}

/** What an apply has changed, for what follows its commit. */
interface Outcome {
  /** Ids of products whose caches are to be dropped, and of those whose deletion has begun. */
  products: string[];
  deleted: { id: string; key: number }[];
  afterCommit: (() => void)[];
  forgotten: ForgottenField[];
  devices: WrittenDevices;
  tokens: string[];
  users: string[];
}

/** Applies documents (CONTRACT 11): what the plan with that hash says, in one transaction, or nothing. */
export class ConfigurationApply {
  readonly #deps: ConfigurationApplyDeps;

  constructor(deps: ConfigurationApplyDeps) {
    this.#deps = deps;
  }

  /**
   * Does what the plan of this document says, which is returned. PLAN_OUTDATED when it has another hash by now;
   * BAD_USER_INPUT when something is blocked. For ADMINs who may READ and CONFIGURE.
   */
  async apply(access: Access, input: ConfigurationInput, hash: string): Promise<ConfigurationPlan> {
    const plan = await this.#deps.planning.plan(access, input);
    requireUnblocked(plan.blocked);
    const { request } = plan;
    const draught = must(plan.draught);
    const { workspaceId } = must(request);
    access.requireWorkspace(workspaceId, 'CONFIGURE');
    if (draught.hash !== hash) throw outdated();
    await this.#prepare(access, draught);
    const position = encodeCursor({ after: await this.#deps.store.position(), between: null });
    const rules = { ...this.#deps.rules, position };
    const outcome = await this.#deps.database.write(async (em) => {
      const present = await this.#hold(em, access, draught);
      const { dialect } = this.#deps.database;
      const now = this.#deps.now();
      const { plans, sendsMail } = this.#deps;
      const again = await draughtOf(em, { dialect, plans, access: present, sendsMail, now }, must(request));
      if (again.hash !== hash) throw outdated();
      requireUnblocked(again.blocks);
      const author = await authorOf(em, access.tokenId);
      return writeAll({ em, dialect, workspaceId, author, now }, again, this.#deps.atRisk, rules);
    }, access);
    await this.#follow(access, workspaceId, outcome);
    if (draught.endpoints.length > 0) this.#deps.onEndpoints();
    return { hash, pending: plan.pending, drift: plan.drift, blocked: [] };
  }

  async #prepare(access: Access, { products }: Draught): Promise<void> {
    const { removals, suggestions } = this.#deps;
    const changes = products.filter(({ state, target }) => state !== null && target !== undefined);
    if (changes.some(({ pending }) => pending.some(({ measurements }) => measurements !== null)))
      removals.requireRoom(access);
    for (const { state, pending, path } of changes)
      if (pending.some((change) => change.action === 'CREATE' && change.path.startsWith(`${path}.fields[`)))
        await suggestions.flush(must(state).id);
  }

  /** Locks all that the plan was made of; returns the rights that stay until the end of the transaction. */
  async #hold(em: EntityManager, access: Access, draught: Draught): Promise<Access> {
    const { database, now } = this.#deps;
    const { workspaceId } = draught.request;
    // On SQLite there is one writer anyway.
    if (database.dialect === 'postgres')
      await em.execute('select "key" from product where workspace_id = ? order by "key" for update', [workspaceId]);
    if (draught.products.some(changesRules) || keysOfGone(draught.devices).length > 0)
      await this.#deps.rules.lockAlerts(em);
    const devices = draught.devices.flatMap(({ state }) => state?.key ?? []).toSorted((one, other) => one - other);
    if (database.dialect === 'postgres')
      for (let at = 0; at < devices.length; at += LOCKED_AT_ONCE) {
        const keys = devices.slice(at, at + LOCKED_AT_ONCE).join(', ');
        await em.execute(`select "key" from device where "key" in (${keys}) order by "key" for update`);
      }
    const users = draught.members.flatMap(({ state }) => state?.userId ?? []);
    const present = await holdRights(em, access, now(), {
      users: { id: { $in: [...users, ...draught.userIds.values()] } },
      workspaces: { id: workspaceId },
      tokens: { id: { $in: draught.tokens.flatMap(({ state }) => state?.id ?? []) } },
    });
    for (const scope of ['ADMIN', 'READ', 'CONFIGURE'] as const) present.requireWorkspace(workspaceId, scope);
    return present;
  }

  /** Tells every node, and goes on with deletions that have begun: the next start completes what a stop cuts off. */
  async #follow(access: Access, workspaceId: string, outcome: Outcome): Promise<void> {
    const { cluster, store, products, removals } = this.#deps;
    for (const follow of outcome.afterCommit) follow();
    await cluster.changed([
      ...outcome.products.map((id) => ({ kind: 'product', id }) as const),
      ...outcome.tokens.map((id) => ({ kind: 'token', id }) as const),
      ...outcome.users.map((id) => ({ kind: 'user', id }) as const),
      ...outcome.devices.changed.map(({ productId, ids }) => changeOfDevices({ productId, workspaceId }, ids)),
    ]);
    if (outcome.forgotten.length > 0 || outcome.devices.areDeleted) void store.settlePurges();
    for (const { after, ...field } of outcome.forgotten)
      if (after !== null) removals.begin({ ...field, after, caller: access });
    for (const { id, key } of outcome.deleted) await products.finishDeletion({ id, key, workspaceId });
  }
}

async function writeAll(
  writing: Writing,
  draught: Draught,
  atRisk: HistoryAtRisk,
  around: RulesAround,
): Promise<Outcome> {
  const { products, endpoints, dashboards, tokens, members, left, gone } = draught;
  const { productIds, productKeys, endpointIds, deviceIds, userIds } = draught;
  const deleted = await beginDeletions(writing, products);
  const written = await writeProducts(writing, products);
  const forgotten = await writeFields(writing, written);
  await writeConfigurationFields(writing, written);
  const ids = new Map([...productIds, ...written.map(({ id, draft }): [string, string] => [draft.name, id])]);
  const ofRules = new Map([...endpointIds, ...(await writeEndpoints(writing, endpoints, ids))]);
  const rules = await writeRules(writing, written, ofRules, around);
  await writeDecoders(writing, written);
  const keys = new Map([...productKeys, ...written.map(({ key, draft }): [string, number] => [draft.name, key])]);
  const places = new Map([...ids].map(([name, id]) => [name, { id, key: must(keys.get(name)) }]));
  const tell = await around.endAlertsOfDevices(writing.em, keysOfGone(draught.devices));
  const devices = await writeDevices(writing, draught.devices, places, atRisk);
  const named = { products: ids, devices: new Map([...deviceIds, ...devices.added]) };
  await writeDashboards(writing, dashboards, named);
  const changedTokens = await writeTokens(writing, tokens, named);
  const changedUsers = await writeMembers(writing, members, userIds);
  const { em, dialect, workspaceId } = writing;
  await leaveApplied(em, workspaceId, left);
  await forgetApplied(em, workspaceId, gone);
  await writeApplied(em, dialect, workspaceId, recordsOf(draught));
  const changed = written.filter(({ isNew, draft }) => !isNew && draft.pending.length > 0).map(({ id }) => id);
  return {
    products: [...new Set([...changed, ...rules.products])],
    afterCommit: [...rules.afterCommit, tell],
    deleted,
    forgotten,
    devices,
    tokens: changedTokens,
    users: changedUsers,
  };
}

/** What the document names, as it is left. */
function recordsOf(draught: Draught): Applied[] {
  return draftsOf(draught).flatMap(({ section, name, wanted, target, applied }) =>
    wanted === undefined || target === undefined
      ? []
      : [
          {
            section,
            name,
            set: draught.request.set,
            isLeft: false,
            // What it named once stays its own, until it is pruned.
            named: [...new Set([...namesIn(SECTIONS[section], wanted), ...stillOwn(section, applied, target)])],
            state: target,
          },
        ],
  );
}

function stillOwn(section: Section, applied: Applied | null, target: Tree): string[] {
  const there = new Set(namesIn(SECTIONS[section], target));
  return applied?.named.filter((part) => there.has(part)) ?? [];
}

function requireUnblocked(blocked: readonly Block[]): void {
  const [first] = blocked;
  if (first === undefined) return;
  const more = blocked.length === 1 ? '' : ` (and ${blocked.length - 1} more)`;
  throw badInput(`${first.path}: ${first.message}${more} Nothing was applied.`, { blocked: blocked.slice(0, 100) });
}

function outdated(): AppError {
  return new AppError(
    'PLAN_OUTDATED',
    'hash: the document, the way in which it is to be applied, or something that it concerns has changed since it was ' +
      'planned. Nothing was applied; plan it again.',
  );
}
