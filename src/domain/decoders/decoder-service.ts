import type { Database } from '../ports/database.ts';
import { AppError, badInput, notFound } from '../../errors.ts';
import type { Cluster } from '../ports/cluster.ts';
import { networkOfPath, pathOfNetwork } from '../networks/network-call.ts';
import type { MeasurementStore } from '../ports/store.ts';
import type { IngestCache, ProductInfo } from '../ingest-cache/ingest-cache.ts';
import { isUuid } from '../text/uuid.ts';
import { lockProduct } from '../access/find-product.ts';
import { authorOf } from '../access/who-is.ts';
import { checkOptionalText } from '../text/text.ts';
import type { Access } from '../access/access.ts';
import type { TokenScope } from '../entities/token.ts';
import { afterLong, type CallRunner, type CallToRun, refuseCutBody } from './call-runner.ts';
import { checkSource, MAX_SOURCE_BYTES, requireDecoderFunction } from './check-source.ts';
import type { DecoderEngine, DecoderStatistics } from './decoder-engine.ts';
import type { DecoderExamples } from './decoder-examples.ts';
import { type DecoderRequestInput, requestOfCall, requestOfInput } from './decoder-request.ts';
import type { DecoderRun } from './decoder-run.ts';
import { DeviceSchema } from '../entities/device.ts';
import { type DecoderVersion, DecoderVersionSchema } from '../entities/decoder-version.ts';
import { insertDecoderVersion } from './new-decoder-version.ts';
import { toDecoderRun } from './finished-run.ts';
import { typedRequest, typedUplink, typedVariables, type UplinkTrial } from './typed-uplink.ts';
import { visibleProduct } from '../ingest-cache/visible-product.ts';

interface DecoderServiceDeps {
  database: Database;
  ingestCache: IngestCache;
  cluster: Cluster;
  store: MeasurementStore;
  engine: DecoderEngine;
  runner: CallRunner;
  examples: DecoderExamples;
  now: () => number;
}

/** The input of a trial: one of `request`, `callId` and `uplink`. `source` left out: the active decoder. */
interface DecoderTrial {
  source?: string | null | undefined;
  request?: DecoderRequestInput | null | undefined;
  callId?: string | null | undefined;
  uplink?: UplinkTrial | null | undefined;
}

/** A product's decoder: versions, the test tool, statistics (CONTRACT 5). Changing and trying needs CONFIGURE. */
export class DecoderService {
  readonly #deps: DecoderServiceDeps;

  constructor(deps: DecoderServiceDeps) {
    this.#deps = deps;
  }

  /**
   * Saves a new version, which becomes the active one. INVALID_DECODER (details `kind`, `line`, `column`) when it does
   * not parse, or, unless `force` is set, when there is no function to call (kind `NO_DECODER_FUNCTION`) or a stored
   * example fails (kind `EXAMPLE`, `example`).
   */
  async saveDecoder(
    access: Access,
    productId: string,
    source: string,
    options: { note?: string | null | undefined; force?: boolean | null | undefined } = {},
  ): Promise<DecoderVersion> {
    const { database, cluster, engine, examples, now } = this.#deps;
    const product = await this.#product(access, productId, 'CONFIGURE');
    const note = checkOptionalText(options.note, 'note', { max: 10_000, multiline: true });
    await checkSource(engine, source, product.workspaceId, access.tokenId);
    if (options.force !== true) {
      await requireDecoderFunction(engine, product.workspaceId, access.tokenId, source);
      await examples.run(access, product, source);
    }
    const version = await database.write(async (em) => {
      await lockProduct(em, access, product.id, 'CONFIGURE');
      const author = await authorOf(em, access.tokenId);
      return insertDecoderVersion(em, product.key, { source, note, author }, now());
    });
    await cluster.changed([{ kind: 'product', id: product.id }]);
    return version;
  }

  /** Makes a saved version the active one; NOT_FOUND when there is no such version. */
  async activateDecoder(access: Access, productId: string, version: number): Promise<DecoderVersion> {
    const { database, cluster } = this.#deps;
    const product = await this.#product(access, productId, 'CONFIGURE');
    const found = await database.write(async (em) => {
      const locked = await lockProduct(em, access, product.id, 'CONFIGURE');
      const row = await em.findOne(DecoderVersionSchema, { product: product.key, version });
      if (row === null) throw new AppError('NOT_FOUND', `The product has no decoder version ${version}.`);
      locked.activeVersion = version;
      return row;
    });
    await cluster.changed([{ kind: 'product', id: product.id }]);
    return found;
  }

  /** Versions newest first, at most `limit`, only those older than `before` if given; without their sources. */
  async versions(access: Access, productId: string, limit: number, before: number | null): Promise<DecoderVersion[]> {
    const product = await this.#product(access, productId, 'READ');
    const where = { product: product.key, ...(before === null ? {} : { version: { $lt: before } }) };
    const options = { orderBy: { version: 'desc' }, limit, exclude: ['source'] } as const;
    return (await this.#deps.database.read().find(DecoderVersionSchema, where, options)) as DecoderVersion[];
  }

  /** Runs a source on a request or a logged call and reports the outcome of each entry; stores nothing. */
  async testDecoder(access: Access, productId: string, trial: DecoderTrial): Promise<DecoderRun> {
    const product = await this.#product(access, productId, 'CONFIGURE');
    const { request, receivedAt, native } = await this.#callOf(product, trial);
    if (trial.source != null && Buffer.byteLength(trial.source) > MAX_SOURCE_BYTES)
      throw badInput(`source: the limit is ${MAX_SOURCE_BYTES} bytes.`);
    const source = trial.source ?? product.decoder?.source ?? null;
    if (source === null && native === undefined && networkOfPath(request.path) === null)
      throw badInput('The product has no active decoder; give "source".');
    const call = { product, source, request, receivedAt, counted: false };
    const { run, status } = await this.#deps.runner.run(native === undefined ? call : { ...call, native });
    if (run !== null) {
      await afterLong(run.output);
      return toDecoderRun(run);
    }
    // Nothing to run: an event that is no uplink, or an uplink without any decoding.
    if (status === 'NO_DECODER')
      throw badInput('The product has no active decoder and the network decoded nothing; give "source".');
    return toDecoderRun({ output: null, console: [], error: null, durationMs: 0, entries: [], answer: null });
  }

  async statistics(access: Access, productId: string): Promise<DecoderStatistics> {
    const product = await this.#product(access, productId, 'READ');
    return this.#deps.engine.statistics(product.id);
  }

  async #callOf(
    product: ProductInfo,
    { request, callId, uplink }: DecoderTrial,
  ): Promise<Pick<CallToRun, 'request' | 'receivedAt' | 'native'>> {
    if ([request, callId, uplink].filter((given) => given != null).length !== 1)
      throw badInput('Give either "request" or "callId" or "uplink".');
    if (uplink != null) return this.#uplinkOf(product, uplink);
    if (callId != null) {
      const row = isUuid(callId) ? await this.#deps.store.call(product.key, callId.toLowerCase()) : null;
      if (row === null) throw notFound('call', callId);
      refuseCutBody(row.bodyTruncated);
      return { request: requestOfCall(row), receivedAt: row.receivedAt };
    }
    return { request: typedRequest(product, request as DecoderRequestInput), receivedAt: this.#deps.now() };
  }

  async #uplinkOf(
    product: ProductInfo,
    uplink: UplinkTrial,
  ): Promise<Pick<CallToRun, 'request' | 'receivedAt' | 'native'>> {
    if (product.deviceType === 'PARTICLE')
      throw badInput('uplink: bytes are for LoRaWAN; give a "request" with an event.');
    const { database, ingestCache, now } = this.#deps;
    const where = { product: product.key, ...(uplink.deviceId == null ? {} : { id: uplink.deviceId.toLowerCase() }) };
    const row = uplink.deviceId?.includes('\0')
      ? null
      : await database.read().findOne(DeviceSchema, where, { orderBy: { key: 'asc' }, fields: ['id'] });
    if (row === null && uplink.deviceId != null) throw notFound('device', uplink.deviceId);
    const device = row === null ? null : await ingestCache.device(row.id);
    const receivedAt = now();
    const event = typedUplink(uplink, device, receivedAt);
    const request = requestOfInput({ path: pathOfNetwork('tti') }, product.webhookId);
    return { request, receivedAt, native: { event, device, variables: typedVariables(uplink.variables) } };
  }

  #product(access: Access, id: string, scope: TokenScope): Promise<ProductInfo> {
    return visibleProduct(this.#deps.ingestCache, access, id, scope);
  }
}
