import type { Database } from '../ports/database.ts';
import { AppError, badInput, conflict, notFound } from '../../errors.ts';
import { checkJsonDocument } from '../text/json-document.ts';
import { yieldToEventLoop } from '../../scheduling/yield-to-event-loop.ts';
import type { IngestCache, ProductInfo } from '../ingest-cache/ingest-cache.ts';
import { lockProduct } from '../access/find-product.ts';
import { checkText } from '../text/text.ts';
import type { Access } from '../access/access.ts';
import type { TokenScope } from '../entities/token.ts';
import { uuidV7 } from '../text/uuid.ts';
import type { CallRunner } from './call-runner.ts';
import { type DecoderExample, DecoderExampleSchema } from '../entities/decoder-example.ts';
import type { DecoderRequestInput } from './decoder-request.ts';
import { typedRequest } from './typed-uplink.ts';
import { visibleProduct } from '../ingest-cache/visible-product.ts';
import { differenceOf, readExpected } from './example-check.ts';
import { examplesOf, type ExampleTexts, MAX_EXAMPLE_PART, MAX_EXAMPLES_BYTES, readExamples } from './example-rows.ts';

/** Maximum examples per product. */
export const MAX_EXAMPLES = 100;

interface DecoderExamplesDeps {
  database: Database;
  ingestCache: IngestCache;
  runner: CallRunner;
  now: () => number;
}

/** Stored examples of a product's decoder (CONTRACT 5): a call, and the entries expected of it. */
export class DecoderExamples {
  readonly #deps: DecoderExamplesDeps;

  constructor(deps: DecoderExamplesDeps) {
    this.#deps = deps;
  }

  /** Examples in the order in which they were added, without their long parts. */
  async decoderExamples(access: Access, productId: string): Promise<DecoderExample[]> {
    return this.#load(await this.#product(access, productId, 'READ'));
  }

  /** Adds an example; `expected`: a list of `{device, field, value, timestamp?}`. CONFLICT when the name is taken. */
  async addDecoderExample(
    access: Access,
    productId: string,
    name: string,
    request: DecoderRequestInput,
    expected: unknown,
  ): Promise<DecoderExample> {
    const { database, now } = this.#deps;
    const product = await this.#product(access, productId, 'CONFIGURE');
    checkText(name, 'name', { max: 200 });
    const { method, path, headers, body } = request;
    // Check first: a value that is nested too deep cannot be written as JSON.
    checkJsonDocument(headers ?? null, 'request.headers', MAX_EXAMPLE_PART);
    const kept = JSON.parse(JSON.stringify({ method, path, headers, body })) as DecoderRequestInput;
    checkJsonDocument(kept, 'request', MAX_EXAMPLE_PART);
    typedRequest(product, kept); // Reject a request that could never run.
    checkJsonDocument(expected, 'expected', MAX_EXAMPLE_PART);
    const entries = readExpected(expected);
    return database.write(async (em) => {
      await lockProduct(em, access, product.id, 'CONFIGURE');
      const [there] = await em.execute<{ id: string }[]>(
        'select id from decoder_example where product_key = ? and name = ?',
        [product.key, name],
      );
      if (there !== undefined) throw conflict(`name: there is an example "${name}" already.`, { existingId: there.id });
      const others = await examplesOf(em, database.dialect, product.key);
      if (others.length >= MAX_EXAMPLES)
        throw badInput(`A product has at most ${MAX_EXAMPLES} examples; remove one first.`);
      if (others.reduce((sum, { bytes }) => sum + bytes, jsonBytes(kept) + jsonBytes(entries)) > MAX_EXAMPLES_BYTES)
        throw badInput(
          `request and expected: the examples of a product have at most ${MAX_EXAMPLES_BYTES} bytes as JSON all ` +
            'together; remove one first, or say less in this one.',
        );
      const row = { id: uuidV7(), product: product.key, name, request: kept as unknown, expected: entries as unknown };
      return em.create(DecoderExampleSchema, { ...row, createdAt: now() });
    });
  }

  /** Removes an example; returns the id. */
  async removeDecoderExample(access: Access, id: string): Promise<string> {
    const { database, ingestCache } = this.#deps;
    const found = id.includes('\0')
      ? null
      : await database.read().findOne(DecoderExampleSchema, { id: id.toLowerCase() }, { populate: ['product'] });
    const product = found && (await ingestCache.product(found.product.id));
    if (found === null || product === null || !access.coversProduct(product)) throw notFound('example', id);
    access.requireProduct(product, 'CONFIGURE');
    await database.write(async (em) => {
      await em.nativeDelete(DecoderExampleSchema, { id: found.id });
    });
    return found.id;
  }

  /**
   * Runs every example through the source; INVALID_DECODER naming the first that fails. The difference is only for
   * tokens that may READ: it is whatever the decoder returns, and a decoder sees stored values.
   */
  async run(access: Access, product: ProductInfo, source: string): Promise<void> {
    for (const { id, name } of await this.#load(product)) {
      // Yield between examples: a hundred may have half a megabyte each.
      await yieldToEventLoop();
      const texts = (await readExamples(this.#deps.database, [id])).get(id);
      const difference = texts === undefined ? null : await this.difference(product, source, parsed(texts));
      if (difference === null) continue;
      const why = access.may(product.workspaceId, 'READ') ? `: ${difference}` : ' (scope READ shows how)';
      throw new AppError('INVALID_DECODER', `The example "${name}" fails${why}. Nothing was saved.`, {
        details: { kind: 'EXAMPLE', example: name, line: null, column: null },
      });
    }
  }

  /** How the entries of an example differ from those expected, as one sentence; null: they do not. Stores nothing. */
  async difference(
    product: ProductInfo,
    source: string,
    example: { request: DecoderRequestInput; expected: unknown },
  ): Promise<string | null> {
    const { runner, now } = this.#deps;
    const request = typedRequest(product, example.request);
    const { run, raw } = await runner.run({ product, source, request, receivedAt: now(), counted: false });
    const error = run?.error;
    if (error) return `${error.kind}: ${error.message}${error.line === null ? '' : ` (line ${error.line})`}`;
    return differenceOf(readExpected(example.expected), raw);
  }

  #load(product: ProductInfo): Promise<DecoderExample[]> {
    const em = this.#deps.database.read();
    return em.find(DecoderExampleSchema, { product: product.key }, { orderBy: { createdAt: 'asc', id: 'asc' } });
  }

  #product(access: Access, id: string, scope: TokenScope): Promise<ProductInfo> {
    return visibleProduct(this.#deps.ingestCache, access, id, scope);
  }
}

function parsed({ request, expected }: ExampleTexts): { request: DecoderRequestInput; expected: unknown } {
  return { request: JSON.parse(request) as DecoderRequestInput, expected: JSON.parse(expected) as unknown };
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
