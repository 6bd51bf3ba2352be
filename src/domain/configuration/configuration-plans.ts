import { createHash } from 'node:crypto';
import type { Access } from '../access/access.ts';
import { soleWorkspace } from '../access/sole-workspace.ts';
import type { Database } from '../ports/database.ts';
import type { Plans } from '../plans/plans.ts';
import type { Yaml } from '../ports/yaml.ts';
import type { FairScheduler } from '../../scheduling/fair-scheduler.ts';
import { checkText } from '../text/text.ts';
import { requireReading } from './configuration-export.ts';
import type { DataAtRisk } from './data-at-risk.ts';
import type { DecoderChecks } from './decoder-checks.ts';
import type { Change } from './differences.ts';
import { draftsOf, type Draught, draughtOf, pendingOf, type PlanRequest } from './planner.ts';
import { parseDocument, readDocument } from './read-document.ts';
import type { Block } from './shape.ts';
import { inSnapshot } from './workspace-state.ts';

/** A document as a client sends it, and how it is to be applied. */
export interface ConfigurationInput {
  workspaceId?: string | null | undefined;
  document: string;
  /** The name of what the document owns; left out: the unnamed set. */
  set?: string | null | undefined;
  /** True: removes what the set owns and the document does not name. */
  prune?: boolean | null | undefined;
  /** True: also what holds measurements. */
  deleteData?: boolean | null | undefined;
}

/** What a document would change (CONTRACT 11). */
export interface ConfigurationPlan {
  hash: string;
  pending: Change[];
  drift: Change[];
  blocked: Block[];
}

interface ConfigurationPlansDeps {
  database: Database;
  yaml: Yaml;
  decoders: DecoderChecks;
  data: DataAtRisk;
  plans: Plans;
  /** Whether this server can send mails. */
  sendsMail: boolean;
  shares: FairScheduler;
  now: () => number;
}

/** A plan with what it was made of; `draught` null: the document has mistakes. */
interface MadePlan extends ConfigurationPlan {
  request: PlanRequest | null;
  draught: Draught | null;
}

/** Plans documents (CONTRACT 11): reads them, compares them with the workspace, and tries what they would save. */
export class ConfigurationPlans {
  readonly #deps: ConfigurationPlansDeps;

  constructor(deps: ConfigurationPlansDeps) {
    this.#deps = deps;
  }

  /** What the document would change, and what keeps it from being applied. For ADMINs who may READ; changes nothing. */
  async plan(access: Access, input: ConfigurationInput): Promise<MadePlan> {
    const { database, yaml, decoders, data, plans, sendsMail, shares, now } = this.#deps;
    const workspaceId = input.workspaceId ?? soleWorkspace(access, 'workspaceId');
    requireReading(access, workspaceId);
    const set = input.set == null || input.set === '' ? '' : checkText(input.set, 'set', { max: 64 });
    const blocked: Block[] = [];
    const document = await readDocument(await parseDocument(input.document, yaml), blocked);
    if (blocked.length > 0) {
      const hash = createHash('sha256').update(input.document).digest('base64url');
      return { hash, pending: [], drift: [], blocked, request: null, draught: null };
    }
    const request = { workspaceId, document, set, prune: input.prune === true, deleteData: input.deleteData === true };
    const { dialect } = database;
    const draught = await database.write(
      (em) => inSnapshot(em, dialect, () => draughtOf(em, { dialect, plans, access, sendsMail, now: now() }, request)),
      access,
    );
    blocked.push(...draught.blocks);
    // What cannot be applied anyhow is not tried.
    if (blocked.length === 0) await decoders.run(access, workspaceId, draught.products, blocked);
    await data.count(draught, request.deleteData, blocked, shares.backgroundOf(access).piece);
    const drift = draftsOf(draught).flatMap((draft) => draft.drift);
    return { hash: draught.hash, pending: pendingOf(draught), drift, blocked, request, draught };
  }
}
