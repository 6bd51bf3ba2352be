import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/sql';
import type { Access } from '../access/access.ts';
import type { Plans } from '../plans/plans.ts';
import type { Dialect } from '../ports/database.ts';
import { TransactionSlices } from '../../scheduling/yield-to-event-loop.ts';
import { type Applied, placeKey, readApplied } from './applied-objects.ts';
import type { Change } from './differences.ts';
import { checkDashboards, type DashboardDraft, devicesOfDashboards, planDashboards } from './dashboard-plan.ts';
import { checkDevices, type DeviceDraft, deviceOf } from './device-plan.ts';
import { type DevicesOf, readDeviceStates } from './device-state.ts';
import { type Draft, draftOf, draftsOfPairs, type Ownership, prunedDraft } from './draft.ts';
import { checkMembers, type MemberDraft, usersOf } from './member-plan.ts';
import { type EndpointDraft, planEndpoints } from './endpoint-plan.ts';
import { paired } from './pairing.ts';
import { checkProduct, type ProductDraft } from './product-plan.ts';
import { checkRulesOf } from './rule-plan.ts';
import { type ProductName, readProductNames, readProductStates } from './product-state.ts';
import type { Asked, DocumentTree, Section } from './read-document.ts';
import { nameOfDevice, nameOfReference, type ProductReference } from './references.ts';
import type { Block } from './shape.ts';
import { checkTokens, devicesNamed, devicesOfTokens, pairedTokens, type TokenDraft } from './token-plan.ts';
import { readMemberStates, readTokenStates } from './workspace-state.ts';
import { must } from '../../must.ts';

/** A document and the way in which it is to be applied. */
export interface PlanRequest {
  workspaceId: string;
  document: DocumentTree;
  /** '': none. */
  set: string;
  prune: boolean;
  deleteData: boolean;
}

/** Everything that a document would change, and that it depends on, as of one moment. */
export interface Draught {
  request: PlanRequest;
  products: ProductDraft[];
  endpoints: EndpointDraft[];
  dashboards: DashboardDraft[];
  tokens: TokenDraft[];
  members: MemberDraft[];
  devices: DeviceDraft[];
  blocks: Block[];
  /** Ids of products by their names in the document, without new ones. */
  productIds: ReadonlyMap<string, string>;
  /** The same by their keys. */
  productKeys: ReadonlyMap<string, number>;
  /** Ids of the endpoints to which rules refer, by their names in the document. */
  endpointIds: ReadonlyMap<string, string>;
  /** Ids of the devices to which tokens and dashboards refer, by `nameOfDevice`. */
  deviceIds: ReadonlyMap<string, string>;
  /** Ids of the users that become members, by their addresses. */
  userIds: ReadonlyMap<string, string>;
  /** Records of objects that the document no longer names: those that stay, and those that are gone. */
  left: Applied[];
  gone: Applied[];
  /** Over all of the above: the same for the same document as long as nothing that it concerns has changed. */
  hash: string;
}

/** What a plan is made with. */
interface Around {
  dialect: Dialect;
  plans: Plans;
  access: Access;
  /** Whether this server can send mails. */
  sendsMail: boolean;
  now: number;
}

/** Works out what a document would change, for the rights of `access`. Reads as of one moment if the transaction does. */
export async function draughtOf(
  em: EntityManager,
  { dialect, plans, access, sendsMail, now }: Around,
  request: PlanRequest,
): Promise<Draught> {
  const { workspaceId, document, set, prune } = request;
  const blocks: Block[] = [];
  const applied = await readApplied(em, workspaceId);
  const ownership: Ownership = { set, prune, applied };
  const owned = (section: Section): Map<string, Applied> => {
    const asked = new Set(document[section].map(({ name }) => name));
    return new Map(
      [...applied.values()]
        .filter((one) => one.section === section && one.set === set && !asked.has(one.name))
        .map((one) => [one.name, one]),
    );
  };

  const names = await readProductNames(em, workspaceId);
  const pairs = withAdopted(paired(document.products, names, blocks), names, blocks);
  const [ownedProducts, ownedTokens, ownedMembers] = [owned('products'), owned('tokens'), owned('members')];
  const pruned = prune ? names.filter(({ name }) => ownedProducts.has(name)) : [];
  const concerned = [...[...pairs.values()].filter((name) => name !== null), ...pruned];
  const states = await readProductStates(em, dialect, workspaceId, concerned);
  const slices = new TransactionSlices();
  const products: ProductDraft[] = [];
  for (const [asked, name] of pairs) {
    const draft = draftOf('products', asked, name && must(states.get(name.key)), ownership, blocks);
    checkProduct(draft, blocks);
    products.push(draft);
    await slices.next();
  }
  for (const { key, name } of pruned)
    products.push(prunedDraft('products', must(states.get(key)), must(ownedProducts.get(name))));

  const references = referencesAfter(names, pairs);
  const prunedIds = new Set(pruned.map(({ id }) => id));
  const byId = new Map(names.map((name) => [name.id, name]));
  const staying = new Map(
    [...references]
      .filter(([id]) => !prunedIds.has(id))
      .map(([id, reference]) => [nameOfReference(reference), must(byId.get(id))]),
  );
  const productIds = new Map([...staying].map(([name, { id }]) => [name, id]));
  const known = new Set([...productIds.keys(), ...document.products.map(({ name }) => name)]);

  const ownedEndpoints = owned('endpoints');
  const { endpoints, endpointStates } = await planEndpoints(
    em,
    {
      workspaceId,
      asked: document.endpoints,
      owned: ownedEndpoints,
      ownership,
      references,
      products: known,
      sendsMail,
    },
    blocks,
  );
  const endpointIds = await checkRulesOf(em, workspaceId, { products, endpoints }, blocks);

  const ownedDevices = owned('devices');
  const deviceStates = await readDeviceStates(
    em,
    dialect,
    devicesOf(document.devices, prune ? ownedDevices : null, staying),
  );
  const devices: DeviceDraft[] = [];
  for (const [asked, state] of paired(document.devices, deviceStates, blocks)) {
    devices.push(draftOf('devices', asked, state, ownership, blocks));
    await slices.next();
  }
  if (prune)
    for (const state of deviceStates.filter(({ name }) => ownedDevices.has(name)))
      devices.push(prunedDraft('devices', state, must(ownedDevices.get(state.name))));
  await checkDevices(em, dialect, { devices, products, known: staying, workspaceId, plans }, blocks);

  const areTokens = document.tokens.length > 0 || (prune && ownedTokens.size > 0);
  const tokenStates = areTokens ? await readTokenStates(em, workspaceId, references) : [];
  const tokens = draftsOfPairs(
    'tokens',
    { pairs: pairedTokens(document.tokens, tokenStates, now, blocks), states: tokenStates },
    { owned: ownedTokens, ownership },
    blocks,
  );
  const ownedDashboards = owned('dashboards');
  const { dashboards, dashboardStates } = await planDashboards(
    em,
    { workspaceId, asked: document.dashboards, owned: ownedDashboards, ownership, references },
    blocks,
  );
  const named = [...devicesOfTokens(tokens), ...devicesOfDashboards(dashboards)];
  const deviceIds = await devicesNamed(em, named, productIds);
  const comingDevices = comingAndGoing(devices, deviceIds);
  checkDashboards(dashboards, { products: known, devices: comingDevices }, blocks);
  checkTokens(
    { tokens, known, devices: comingDevices, count: tokenStates.length },
    { workspaceId, access, now },
    blocks,
  );

  const areMembers = document.members.length > 0 || (prune && ownedMembers.size > 0);
  const memberStates = areMembers ? await readMemberStates(em, workspaceId) : [];
  const members = draftsOfPairs(
    'members',
    { pairs: paired(document.members, memberStates, blocks), states: memberStates },
    { owned: ownedMembers, ownership },
    blocks,
  );
  const userIds = await usersOf(em, access, members);
  checkMembers({ members, userIds, all: memberStates }, { workspaceId, access }, blocks);

  const there = new Set([
    ...names.map(({ name }) => placeKey({ section: 'products', name })),
    ...(endpointStates ?? []).map(({ name }) => placeKey({ section: 'endpoints', name })),
    ...(dashboardStates ?? []).map(({ name }) => placeKey({ section: 'dashboards', name })),
    ...tokenStates.map(({ name }) => placeKey({ section: 'tokens', name })),
    ...memberStates.map(({ name }) => placeKey({ section: 'members', name })),
    ...deviceStates.map(({ name }) => placeKey({ section: 'devices', name })),
  ]);
  const rest = [ownedProducts, ownedEndpoints, ownedDashboards, ownedTokens, ownedMembers, ownedDevices].flatMap(
    (some) => [...some.values()],
  );
  const read: Record<Section, boolean> = {
    products: true,
    endpoints: endpointStates !== null,
    dashboards: dashboardStates !== null,
    tokens: areTokens,
    members: areMembers,
    devices: prune,
  };
  const isRead = ({ section }: Applied): boolean => read[section];
  const isThere = (one: Applied): boolean => !isRead(one) || there.has(placeKey(one));
  const productKeys = new Map([...staying].map(([name, { key }]) => [name, key]));
  const drafts = { products, endpoints, dashboards, tokens, members, devices };
  const draught = { request, ...drafts, blocks, productIds, productKeys, endpointIds, deviceIds, userIds };
  return {
    ...draught,
    left: prune ? [] : rest.filter(isThere),
    gone: rest.filter((one) => prune || !isThere(one)),
    hash: await hashOf(draught),
  };
}

/** Every object of a plan, in the order of the sections. */
export function draftsOf({
  products,
  endpoints,
  dashboards,
  tokens,
  members,
  devices,
}: Pick<Draught, Section>): Draft[] {
  return [...products, ...endpoints, ...dashboards, ...tokens, ...members, ...devices];
}

/** Everything that is to change. */
export function pendingOf(draught: Draught): Change[] {
  return draftsOf(draught).flatMap(({ pending }) => pending);
}

/** The devices to read: those that the document names, and those that its set owns. */
function devicesOf(
  asked: readonly Asked[],
  owned: ReadonlyMap<string, Applied> | null,
  products: ReadonlyMap<string, ProductName>,
): DevicesOf[] {
  const trees = [...asked.map(({ tree }) => tree), ...[...(owned?.values() ?? [])].map(({ state }) => state)].map(
    deviceOf,
  );
  return [...Map.groupBy(trees, ({ product }) => nameOfReference(product))].flatMap(([name, own]) => {
    const product = products.get(name);
    const serials = [...new Set(own.map(({ serialNumber }) => serialNumber))];
    return product === undefined ? [] : [{ product, reference: must(own[0]).product, serials }];
  });
}

/** Names of devices to which tokens may refer: those that are there, and come, without those that go. */
function comingAndGoing(devices: readonly DeviceDraft[], there: ReadonlyMap<string, string>): Set<string> {
  const names = new Set(there.keys());
  for (const { is, target } of devices) {
    const name = nameOfDevice(deviceOf(must(target ?? is)));
    if (target === undefined) names.delete(name);
    else names.add(name);
  }
  return names;
}

/** The pairs, with the products without a key that are to get one of the document. */
function withAdopted(
  pairs: Map<Asked, ProductName | null>,
  names: readonly ProductName[],
  blocks: Block[],
): Map<Asked, ProductName | null> {
  const taken = new Set(pairs.values());
  return new Map(
    [...pairs].map(([asked, name]) => {
      if (asked.adopts === null || name !== null) return [asked, name];
      const meant = names.filter(({ sharedName }) => sharedName === asked.adopts);
      if (meant.length === 1 && !taken.has(must(meant[0]))) return [asked, must(meant[0])];
      const why = meant.length === 1 ? 'the document names it by itself, too' : `the workspace has ${meant.length}`;
      blocks.push({
        path: `${asked.path}.adopt`,
        message: `expected the name of one product without a key; of "${asked.adopts}": ${why}.`,
      });
      return [asked, null];
    }),
  );
}

/** References to products by their ids, as they are once the document is applied. */
function referencesAfter(
  names: readonly ProductName[],
  pairs: ReadonlyMap<Asked, ProductName | null>,
): Map<string, ProductReference> {
  const references = new Map(names.map(({ id, reference }) => [id, reference]));
  for (const [{ adopts, tree }, name] of pairs)
    if (adopts !== null && name !== null) references.set(name.id, tree['key'] as string);
  return references;
}

async function hashOf(draught: Omit<Draught, 'hash' | 'left' | 'gone'>): Promise<string> {
  const { request, productIds, endpointIds, deviceIds, userIds } = draught;
  const { document: _, ...how } = request;
  const hash = createHash('sha256');
  const add = (part: unknown): void => void hash.update(`${JSON.stringify(part)}\n`);
  add(how);
  const slices = new TransactionSlices();
  for (const { section, name, state, is, target, wanted, applied } of draftsOf(draught)) {
    add([section, name, idOf(state), is, target, wanted, applied?.state]);
    await slices.next();
  }
  const references = draught.tokens.length + draught.endpoints.length + draught.dashboards.length;
  if (endpointIds.size > 0) add([...endpointIds]);
  for (const ids of [productIds, deviceIds, userIds]) add(references === 0 && ids !== userIds ? 0 : [...ids]);
  return hash.digest('base64url');
}

/** The server's own name of a row, under which it was planned. */
function idOf(state: unknown): unknown {
  const { id, userId } = (state ?? {}) as { id?: string; userId?: string };
  return id ?? userId ?? null;
}
