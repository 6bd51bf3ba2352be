import type { Database } from '../ports/database.ts';
import { badInput } from '../../errors.ts';
import type { Change, Cluster } from '../ports/cluster.ts';
import { findProduct } from '../access/find-product.ts';
import type { Access } from '../access/access.ts';
import { lockWorkspace } from '../accounts/lock-workspace.ts';
import { findDevice } from '../access/find-device.ts';
import { changeOfDevice } from './change-of-devices.ts';

const MIN_PER_SECOND = 1 / 864_000;
const MAX_PER_SECOND = 1e6;

interface WriteRateServiceDeps {
  database: Database;
  cluster: Cluster;
  /** WRITE_RATE_PER_FIELD; 0: no limit. */
  defaultRate: number;
}

/** Levels of a write limit, the nearest first; SERVER: WRITE_RATE_PER_FIELD. */
export const WRITE_RATE_SOURCES = ['DEVICE', 'PRODUCT', 'WORKSPACE', 'SERVER'] as const;

/** An effective limit, in writes per second for each device and field (null: none), and its level. */
export interface WriteRate {
  perSecond: number | null;
  source: (typeof WRITE_RATE_SOURCES)[number];
}

/** The setting of one level: null or undefined inherits, 0 is no limit. */
type Setting = { writeRate?: number | null } | null;

/** One of the three ids, and either `perSecond` (null or 0: no limit) or `reset` true (the wider setting again). */
interface WriteRateChange {
  workspaceId?: string | null;
  productId?: string | null;
  deviceId?: string | null;
  perSecond?: number | null;
  reset?: boolean | null;
}

/** The write limit of the record endpoint; the nearest setting wins (CONTRACT 3). */
export class WriteRateService {
  readonly #deps: WriteRateServiceDeps;

  constructor(deps: WriteRateServiceDeps) {
    this.#deps = deps;
  }

  /** The effective limit for these settings of device, product and workspace; null: not so near. */
  effective(device: Setting, product: Setting, workspace: Setting): WriteRate {
    const settings = [device, product, workspace, { writeRate: this.#deps.defaultRate }];
    const at = settings.findIndex((setting) => setting?.writeRate != null);
    return { perSecond: settings[at]?.writeRate || null, source: WRITE_RATE_SOURCES[at] ?? 'SERVER' };
  }

  async set(access: Access, change: WriteRateChange): Promise<void> {
    const writeRate = readRate(change);
    const { workspaceId, productId, deviceId } = change;
    if ([workspaceId, productId, deviceId].filter((id) => id != null).length !== 1)
      throw badInput('Give exactly one of workspaceId, productId and deviceId.');
    const changed = await this.#deps.database.write(async (em): Promise<Change> => {
      if (workspaceId != null) {
        access.requireWorkspace(workspaceId, 'ADMIN');
        const workspace = await lockWorkspace(em, workspaceId);
        workspace.writeRate = writeRate;
        return { kind: 'workspace', id: workspace.id };
      }
      if (productId != null) {
        const product = await findProduct(em, access, productId, 'CONFIGURE');
        product.writeRate = writeRate;
        return { kind: 'product', id: product.id };
      }
      const device = await findDevice(em, access, deviceId ?? '', 'CONFIGURE');
      device.writeRate = writeRate;
      return changeOfDevice(device);
    });
    await this.#deps.cluster.changed([changed]);
  }
}

/** The stored form: null inherits, 0 is no limit. */
function readRate({ perSecond, reset }: WriteRateChange): number | null {
  if ((perSecond !== undefined) === (reset === true))
    throw badInput('Give either perSecond (null: no limit) or reset: true.');
  if (perSecond === undefined) return null;
  return checkWriteRate(perSecond ?? 0, 'perSecond');
}

/** The writes per second, 0 for no limit; BAD_USER_INPUT naming `path` when they are too few or too many. */
export function checkWriteRate(perSecond: number, path: string): number {
  const fits = perSecond === 0 || (perSecond >= MIN_PER_SECOND && perSecond <= MAX_PER_SECOND);
  if (!fits)
    throw badInput(
      `${path}: expected a number from ${MIN_PER_SECOND} (one in ten days) to ${MAX_PER_SECOND}, or null (also 0) for no limit; got ${perSecond}.`,
    );
  return perSecond;
}
