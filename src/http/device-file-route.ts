import type Koa from 'koa';
import type { Access } from '../domain/access/access.ts';
import type { AuditLog } from '../domain/audit/audit-log.ts';
import { ON_EXISTING, type OnExisting } from '../domain/devices/device-wish.ts';
import type { ProductService } from '../domain/products/product-service.ts';
import { isUuid } from '../domain/text/uuid.ts';
import type { DeviceImporter, DeviceImportOptions } from '../domain/transfer/device-importer.ts';
import { runAs } from '../scheduling/current-caller.ts';
import { AppError, badInput } from '../errors.ts';
import { fileText } from './import-route.ts';
import type { TokenHandler } from './routes.ts';
import { must } from '../must.ts';

interface DeviceFileRouteDeps {
  products: Pick<ProductService, 'getByKey'>;
  deviceImporter: DeviceImporter;
  auditLog: Pick<AuditLog, 'run'>;
  /** Milliseconds in which nothing of a file may come. */
  idleMs: number;
}

const PARAMETERS = ['productId', 'product', 'workspace', 'onExisting', 'plan', 'dryRun'];
const NDJSON = new Set(['application/x-ndjson', 'application/ndjson', 'application/jsonl']);

/** `POST /v1/devices.csv` (CONTRACT 11): devices of one product from a file, CSV unless the type says NDJSON. */
export function deviceFileRoute({ products, deviceImporter, auditLog, idleMs }: DeviceFileRouteDeps): TokenHandler {
  return async (context, access) => {
    access.workspaceIdsWith('CONFIGURE');
    const type = must(context.get('content-type').split(';')[0]).trim().toLowerCase();
    if (type.startsWith('multipart/'))
      throw new AppError('INVALID_BODY', 'Send the file itself as the body, as text/csv or application/x-ndjson.');
    const kind = NDJSON.has(type) ? 'ndjson' : 'csv';
    const options = { ...readOptions(context), kind, productId: await productIdOf(context, access, products) } as const;
    const text = fileText(context, idleMs);
    const told = { ...options, kind: undefined };
    context.body = await runAs(access, () =>
      auditLog.run('importDevices', told, access, () => deviceImporter.run(access, options, text)),
    );
  };
}

async function productIdOf(
  context: Koa.Context,
  access: Access,
  products: DeviceFileRouteDeps['products'],
): Promise<string> {
  const [productId, product, workspace] = [
    one(context, 'productId'),
    one(context, 'product'),
    one(context, 'workspace'),
  ];
  if ((productId === null) === (product === null)) throw badInput('product: give its id or its key, once.');
  const named = productId ?? must(product);
  if (productId !== null || isUuid(named)) return named;
  return (await products.getByKey(access, named, { workspaceId: workspace, scope: 'CONFIGURE' })).id;
}

function readOptions(context: Koa.Context): Omit<DeviceImportOptions, 'productId' | 'kind'> {
  const unknown = Object.keys(context.query).find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined)
    throw badInput(`There is no parameter "${unknown.slice(0, 64)}"; there are: ${PARAMETERS.join(', ')}.`);
  const onExisting = (one(context, 'onExisting') ?? 'FAIL').toUpperCase() as OnExisting;
  if (!ON_EXISTING.includes(onExisting)) throw badInput(`onExisting: expected ${ON_EXISTING.join(', ')}.`);
  const dryRun = one(context, 'dryRun') ?? 'false';
  if (dryRun !== 'true' && dryRun !== 'false') throw badInput('dryRun: expected true or false.');
  return { onExisting, plan: one(context, 'plan'), dryRun: dryRun === 'true' };
}

function one({ query }: Koa.Context, name: string): string | null {
  const value = query[name];
  if (Array.isArray(value)) throw badInput(`${name}: give it once.`);
  return value ?? null;
}
