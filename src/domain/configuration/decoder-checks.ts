import { AppError } from '../../errors.ts';
import type { Access } from '../access/access.ts';
import { checkSource, requireDecoderFunction } from '../decoders/check-source.ts';
import type { DecoderEngine } from '../decoders/decoder-engine.ts';
import type { DecoderExamples } from '../decoders/decoder-examples.ts';
import type { DeviceType } from '../entities/product.ts';
import { ResourcePool } from '../../scheduling/resource-pool.ts';
import type { FieldInfo, IngestCache, ProductInfo } from '../ingest-cache/ingest-cache.ts';
import { itemsOf } from './normal-form.ts';
import { type DecoderTree, decoderOf, type ProductDraft } from './product-plan.ts';
import { type Block, blockOf, isSame, segment, type Tree } from './shape.ts';
import { must } from '../../must.ts';

interface DecoderChecksDeps {
  engine: DecoderEngine;
  examples: DecoderExamples;
  ingestCache: IngestCache;
}

/** Sources checked at the same time: while one is on its way, another runs. */
const AT_ONCE = 4;
const REMEDY = 'save it by saveDecoder with "force" if it is wanted all the same.';

/** Tries the decoders that a plan would save, as saving does: what saving would refuse is a block. */
export class DecoderChecks {
  readonly #deps: DecoderChecksDeps;

  constructor(deps: DecoderChecksDeps) {
    this.#deps = deps;
  }

  /** Runs the sources that change, and all examples of a product whose source or examples do. */
  async run(access: Access, workspaceId: string, drafts: readonly ProductDraft[], blocks: Block[]): Promise<void> {
    /** Refusal of each source, so that products that share one are checked once; null: none. */
    const known = new Map<string, Promise<AppError | null>>();
    const slots = new ResourcePool(AT_ONCE, () => null);
    const refusalOf = (source: string): Promise<AppError | null> => {
      const refusal = known.get(source) ?? slots.use(() => this.#refusal(access, workspaceId, source));
      known.set(source, refusal);
      return refusal;
    };
    const changing = drafts.filter(({ is, target }) => {
      const { source } = decoderOf(target);
      return source !== undefined && source !== decoderOf(is).source;
    });
    await Promise.all(changing.map(({ target }) => refusalOf(must(decoderOf(target).source))));
    for (const draft of drafts) {
      const [is, target] = [decoderOf(draft.is), decoderOf(draft.target)];
      const { source, examples = [] } = target;
      if (draft.target === undefined || source === undefined || isSame(is, target)) continue;
      const at = `${draft.path}.decoder`;
      if (source !== is.source) {
        const refusal = await refusalOf(source);
        if (refusal !== null) {
          blocks.push(blockOf(refusal, `${at}.source`));
          continue;
        }
      }
      if (examples.length > 0)
        await this.#tryExamples(await this.#infoOf(workspaceId, draft), source, examples, at, blocks);
    }
  }

  async #refusal(access: Access, workspaceId: string, source: string): Promise<AppError | null> {
    try {
      await checkSource(this.#deps.engine, source, workspaceId, access.tokenId);
      await requireDecoderFunction(this.#deps.engine, workspaceId, access.tokenId, source, REMEDY);
      return null;
    } catch (error) {
      if (error instanceof AppError && error.code === 'INVALID_DECODER') return error;
      throw error;
    }
  }

  async #tryExamples(
    product: ProductInfo,
    source: string,
    examples: NonNullable<DecoderTree['examples']>,
    path: string,
    blocks: Block[],
  ): Promise<void> {
    for (const { name, request, expected } of examples) {
      const at = `${path}.examples${segment(name)}`;
      try {
        const difference = await this.#deps.examples.difference(product, source, { request, expected });
        if (difference !== null) blocks.push({ path: at, message: `the example fails: ${difference}` });
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'BAD_USER_INPUT') throw error;
        blocks.push({ path: at, message: error.message });
      }
    }
  }

  /** The product as decoders would see it; a new one has no devices. */
  async #infoOf(workspaceId: string, { state, target }: ProductDraft): Promise<ProductInfo> {
    const known = state === null ? null : await this.#deps.ingestCache.product(state.id);
    const fields = itemsOf(must(target)['fields']).map((field, at): FieldInfo =>
      infoOfField(field, state?.fields.get(field['identifier'] as string)?.key ?? -1 - at),
    );
    return {
      key: 0,
      id: '00000000-0000-0000-0000-000000000000',
      webhookId: '',
      offlineAfterSeconds: null,
      decoder: null,
      configuration: [],
      answers: { always200: false, webhook: null },
      writeRate: null,
      ...known,
      workspaceId,
      name: must(target)['name'] as string,
      deviceType: (must(target)['deviceType'] ?? 'API') as DeviceType,
      ignoreZeroPlaces: must(target)['ignoreZeroPlaces'] === true,
      timeZone: (must(target)['timeZone'] ?? null) as string | null,
      fields: new Map(fields.map((field) => [field.identifier, field])),
      fieldsByKey: new Map(fields.map((field) => [field.key, field])),
    };
  }
}

function infoOfField(field: Tree, key: number): FieldInfo {
  const named = field as Tree & Pick<FieldInfo, 'identifier' | 'type'> & Partial<FieldInfo>;
  const { name = null, unit = null, description = null, role = null, meaning = 'GAUGE', overflowAt = null } = named;
  return { key, identifier: named.identifier, type: named.type, name, unit, description, role, meaning, overflowAt };
}
