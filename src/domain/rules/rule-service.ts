import type { EntityManager } from '@mikro-orm/sql';
import { badInput, notFound } from '../../errors.ts';
import type { Access } from '../access/access.ts';
import { findProduct, lockProduct, placeOfProduct } from '../access/find-product.ts';
import { lockWorkspace } from '../accounts/lock-workspace.ts';
import type { Product } from '../entities/product.ts';
import { type Rule, RuleSchema } from '../entities/rule.ts';
import type { TokenScope } from '../entities/token.ts';
import { findByAuthorKey, requireFreeAuthorKey } from '../keys/author-key.ts';
import { requireSameInput, type SealedParts, sealParts } from '../keys/same-input.ts';
import { encodeCursor } from '../live/feed-cursor.ts';
import type { Cluster } from '../ports/cluster.ts';
import type { Database } from '../ports/database.ts';
import type { MeasurementStore } from '../ports/store.ts';
import { uuidV7 } from '../text/uuid.ts';
import { type CheckedRule, checkRule, type GivenRule } from './check-rule.ts';
import { MAX_RULES, type RuleDefinition } from './definition.ts';
import { idsOfEndpoints } from './named-endpoints.ts';
import { isDefault, type Notify } from './notify.ts';
import { readGround, rowOf, type RuleRow, watchFrom } from './rule-rows.ts';

interface RuleServiceDeps {
  database: Database;
  cluster: Cluster;
  store: Pick<MeasurementStore, 'position'>;
  /** Ends the alerts of a rule in the transaction, and tells so; call what it resolves with after the commit. */
  endAlerts: (em: EntityManager, ruleKey: number) => Promise<() => void>;
  now: () => number;
}

/** The rules of products (CONTRACT 12). A change is seen by the next value that is judged, on every node. */
export class RuleService {
  readonly #deps: RuleServiceDeps;

  constructor(deps: RuleServiceDeps) {
    this.#deps = deps;
  }

  /** The rule, when the token has the scope for its product. */
  async get(access: Access, id: string, scope: TokenScope = 'READ'): Promise<RuleRow & { productId: string }> {
    const em = this.#deps.database.read();
    const rule = await find(em, access, id);
    await findProduct(em, access, rule.product.id, scope);
    return { ...rowOf(rule), productId: rule.product.id };
  }

  /** A rule in its normal form, as `create` would store it. */
  async check(access: Access, productId: string, input: GivenRule): Promise<CheckedRule> {
    const em = this.#deps.database.read();
    const product = await findProduct(em, access, productId, 'READ');
    return checkRule(input, await readGround(em, product.key));
  }

  /** Makes a rule. With a key that one of the product has already: that rule, if the input describes it, else CONFLICT. */
  async create(access: Access, productId: string, input: GivenRule): Promise<RuleRow> {
    const position = await this.#position();
    const { row, changed } = await this.#deps.database.write(async (em) => {
      const product = await lockProduct(em, access, productId, 'CONFIGURE');
      const checked = await endpointsNamed(em, access, product, checkRule(input, await readGround(em, product.key)));
      const existing = await findWithKey(em, access, product, checked.authorKey);
      if (existing !== null) {
        await requireSame(em, existing, checked);
        return { row: rowOf(existing), changed: null };
      }
      if ((await em.count(RuleSchema, { product: product.key })) >= MAX_RULES)
        throw badInput(`A product has at most ${MAX_RULES} rules.`);
      const rule = em.create(RuleSchema, {
        id: uuidV7(),
        workspace: product.workspace,
        product,
        ...columnsOf(checked),
        revision: 1,
        judgedRevision: 0,
        createdAt: this.#deps.now(),
        authorKey: checked.authorKey,
        createdFrom: checked.authorKey === null ? null : partsOf(checked),
      });
      await em.flush();
      if (rule.enabled) await watchFrom(em, position);
      return { row: rowOf(rule), changed: product.id };
    });
    if (changed !== null) await this.#changed(changed);
    return row;
  }

  /** Changes a rule: what is left out stays, null is the default. Its devices are judged again. */
  async update(access: Access, id: string, input: GivenRule): Promise<RuleRow> {
    const position = await this.#position();
    const { row, productId } = await this.#deps.database.write(async (em) => {
      const rule = await lock(em, access, id);
      const given = checkRule(input, await readGround(em, rule.product.key));
      const checked = await endpointsNamed(em, access, rule.product, given);
      if (input.key !== undefined) await changeKey(em, access, rule, checked.authorKey);
      const is = rowOf(rule);
      const asked = kept(checked, input, is);
      // Nobody named is every endpoint of the workspace.
      if (!isSame(asked.notify.endpointIds ?? ALL, is.notify.endpointIds ?? ALL)) access.requireUnlimited();
      const { definition, ...columns } = columnsOf(asked);
      const isToldAnew =
        columns.notify !== rule.notify ||
        JSON.stringify(asked.definition.schedule) !== JSON.stringify(is.definition.schedule);
      if (definition !== rule.definition || columns.enabled !== rule.enabled || !isSame(columns.tags, rule.tags))
        rule.revision += 1;
      Object.assign(rule, columns, { definition });
      if (rule.enabled) await watchFrom(em, position);
      // Its alerts are told by the new schedule and manner. Before the rule is written, as elsewhere, against deadlocks.
      if (isToldAnew)
        await em.execute(
          'update alert set tell_at = ? where rule_key = ? and (is_open = ? or tell_at is not null)',
          [this.#deps.now(), rule.key, this.#deps.database.dialect === 'sqlite' ? 1 : true],
          'run',
        );
      return { row: rowOf(rule), productId: rule.product.id };
    });
    await this.#changed(productId);
    return row;
  }

  /** Deletes a rule with its alerts. Returns the id. */
  async delete(access: Access, id: string): Promise<string> {
    let afterCommit = (): void => {};
    const rule = await this.#deps.database.write(async (em) => {
      const found = await lock(em, access, id);
      afterCommit = await this.#deps.endAlerts(em, found.key);
      await em.nativeDelete(RuleSchema, { key: found.key });
      return { id: found.id, productId: found.product.id };
    });
    afterCommit();
    await this.#changed(rule.productId);
    return rule.id;
  }

  async #position(): Promise<string> {
    return encodeCursor({ after: await this.#deps.store.position(), between: null });
  }

  #changed(productId: string): Promise<void> {
    return this.#deps.cluster.changed([{ kind: 'product', id: productId }]);
  }
}

async function find(em: EntityManager, access: Access, id: string): Promise<Rule> {
  const rule = id.includes('\0')
    ? null
    : await em.findOne(RuleSchema, { id: id.toLowerCase() }, { populate: ['product'] });
  if (rule === null || !access.coversProduct(placeOfProduct(rule.product))) throw notFound('rule', id);
  return rule;
}

async function lock(em: EntityManager, access: Access, id: string): Promise<Rule> {
  const seen = await find(em, access, id);
  await lockProduct(em, access, seen.product.id, 'CONFIGURE');
  // Read again: it may have been removed while waiting for the lock.
  const rule = await em.findOne(RuleSchema, { key: seen.key }, { refresh: true });
  if (rule === null) throw notFound('rule', id);
  return rule;
}

/** A rule whose endpoints are known. */
type Complete = Omit<CheckedRule, 'notify' | 'named'> & { notify: Notify };

/** The rule with the ids of the endpoints that it names. */
async function endpointsNamed(
  em: EntityManager,
  access: Access,
  product: Product,
  { notify, named, ...checked }: CheckedRule,
): Promise<Complete> {
  // Whoever sees some products only does not see the endpoints of the workspace.
  if (named.length > 0) access.requireUnlimited();
  return { ...checked, notify: { ...notify, endpointIds: await idsOfEndpoints(em, product.workspace.id, named) } };
}

/** The rule of the product with the key; CONFLICT when a rule of another product has it. */
async function findWithKey(
  em: EntityManager,
  access: Access,
  product: Product,
  key: string | null,
): Promise<Rule | null> {
  if (key === null) return null;
  // Whether a key is free tells of products that a limit hides.
  access.requireUnlimited();
  const workspaceId = product.workspace.id;
  await lockWorkspace(em, workspaceId);
  const existing = await findByAuthorKey(em, RuleSchema, workspaceId, key);
  if (existing === null || existing.product.key === product.key) return existing;
  await requireFreeAuthorKey(em, RuleSchema, { workspaceId, key, own: '', what: 'rule', path: 'input.key' });
  return null;
}

async function changeKey(em: EntityManager, access: Access, rule: Rule, key: string | null): Promise<void> {
  if (key !== null && key !== rule.authorKey) {
    access.requireUnlimited();
    const workspaceId = rule.workspace.id;
    await lockWorkspace(em, workspaceId);
    await requireFreeAuthorKey(em, RuleSchema, { workspaceId, key, own: rule.id, what: 'rule', path: 'input.key' });
  }
  rule.authorKey = key;
}

async function requireSame(em: EntityManager, rule: Rule, asked: Complete): Promise<void> {
  await em.populate(rule, ['createdFrom']);
  await requireSameInput({
    what: 'rule',
    id: rule.id,
    name: rule.name,
    key: rule.authorKey!,
    asked: partsOf(asked),
    created: rule.createdFrom ?? null,
    present: async () => partsOf(rowOf(rule)),
  });
}

type Kept = Pick<RuleRow, 'name' | 'enabled' | 'tags' | 'definition' | 'notify'>;

/** The parts of a rule in the words of its input (`same-input`); those with their default are null. */
function partsOf({ name, enabled, tags, definition, notify }: Kept): SealedParts {
  const { levels, forSeconds, clearForSeconds, latched, schedule } = definition;
  return sealParts({
    name,
    enabled: enabled ? null : false,
    tags: tags.length === 0 ? null : tags.toSorted(),
    levels,
    forSeconds: forSeconds || null,
    clearForSeconds: clearForSeconds || null,
    latched: latched || null,
    schedule,
    notify: isDefault(notify) ? null : notify,
  });
}

function columnsOf({ name, enabled, tags, definition, notify }: Kept) {
  const manner = isDefault(notify) ? null : JSON.stringify(notify);
  return { name, enabled, tags, definition: JSON.stringify(definition), notify: manner };
}

/** Stands for all endpoints. */
const ALL = ['*'];

/** The checked rule with what the input leaves out as it is. */
function kept(checked: Complete, input: GivenRule, is: RuleRow): Kept {
  const { levels, ...rest } = checked.definition;
  const names = ['forSeconds', 'clearForSeconds', 'latched', 'schedule'] as const;
  const definition: RuleDefinition = { levels, ...rest };
  for (const name of names) if (input[name] === undefined) Object.assign(definition, { [name]: is.definition[name] });
  return {
    name: checked.name,
    enabled: input.enabled === undefined ? is.enabled : checked.enabled,
    tags: input.tags === undefined ? is.tags : checked.tags,
    definition,
    notify: input.notify === undefined ? is.notify : checked.notify,
  };
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((tag, index) => tag === others[index]);
}
