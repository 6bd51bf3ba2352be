import type { GqlAnswer, TestServer } from '../support/server.ts';

export interface Change {
  action: string;
  path: string;
  before: any;
  after: any;
  measurements: number | null;
}

export interface Plan {
  hash: string;
  pending: Change[];
  drift: Change[];
  blocked: { path: string; message: string }[];
}

export interface HowToApply {
  set?: string;
  prune?: boolean;
  deleteData?: boolean;
}

const PLAN =
  'hash pending { action path before after measurements } drift { action path before after measurements } blocked { path message }';
const ARGUMENTS = '$id: ID, $document: String!, $set: String, $prune: Boolean, $deleteData: Boolean';
const GIVEN = 'workspaceId: $id, document: $document, set: $set, prune: $prune, deleteData: $deleteData';

/** The configuration of one workspace over GraphQL. */
export class ConfigurationClient {
  readonly #server: TestServer;
  readonly workspaceId: string;
  readonly #token: string;

  constructor(server: TestServer, workspaceId: string, token = server.adminToken) {
    this.#server = server;
    this.workspaceId = workspaceId;
    this.#token = token;
  }

  async export(format?: string, productKeys?: string[], devices?: boolean): Promise<string> {
    const data = await this.#server.gql(
      'query ($id: ID, $format: String, $productKeys: [String!], $devices: Boolean) { exportConfiguration(workspaceId: $id, format: $format, productKeys: $productKeys, devices: $devices) }',
      { id: this.workspaceId, format, productKeys, devices },
      this.#token,
    );
    return data['exportConfiguration'];
  }

  async plan(document: unknown, how: HowToApply = {}): Promise<Plan> {
    const data = await this.#server.gql(
      `mutation (${ARGUMENTS}) { planConfiguration(${GIVEN}) { ${PLAN} } }`,
      { id: this.workspaceId, document: textOf(document), ...how },
      this.#token,
    );
    return data['planConfiguration'];
  }

  tryToApply(document: unknown, hash: string, how: HowToApply = {}): Promise<GqlAnswer> {
    return this.#server.query(
      `mutation (${ARGUMENTS}, $hash: String!) { applyConfiguration(${GIVEN}, hash: $hash) { ${PLAN} } }`,
      { id: this.workspaceId, document: textOf(document), hash, ...how },
      this.#token,
    );
  }

  /** Plans and applies; throws with what is blocked. */
  async apply(document: unknown, how: HowToApply = {}): Promise<Plan> {
    const { hash } = await this.plan(document, how);
    const { data, errors } = await this.tryToApply(document, hash, how);
    if (errors !== undefined) throw new Error(JSON.stringify(errors));
    return data!['applyConfiguration'];
  }
}

/** A document that is given as an object, as JSON. */
function textOf(document: unknown): string {
  return typeof document === 'string' ? document : JSON.stringify(document);
}

/** What a plan without anything to do says. */
export const NOTHING = { pending: [], drift: [], blocked: [] };
