import { Arg, Ctx, ID, Int, Mutation, Query, Resolver } from 'type-graphql';
import type { Product } from '../../domain/entities/product.ts';
import type { ProductService } from '../../domain/products/product-service.ts';
import { badInput, notFound } from '../../errors.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import { AFTER, FIRST, connectionWith, type Paging, readAfter, readFirst } from '../paging/page.ts';
import type { Connection } from '../types/connection.ts';
import { CreateProductInput, ProductConnection, ProductObject, UpdateProductInput } from '../types/product.ts';
import { must } from '../../must.ts';

const PRODUCTS: Paging<Product> = { kind: 'product', shape: ['number'], keyOf: (product) => [product.key] };
/** Bytes of examples copied per millisecond, at worst. */
const COPIED_BYTES_PER_MS = 50_000;

/** Products (CONTRACT 1). */
@Resolver()
export class ProductResolver {
  readonly #products: ProductService;

  constructor(products: ProductService) {
    this.#products = products;
  }

  @Query(() => ProductConnection, { description: 'In the order of creation. search: part of the name, in any case.' })
  async products(
    @Ctx() { access }: GraphqlContext,
    @Arg('workspaceId', () => ID, { nullable: true, description: 'Only products of this workspace.' })
    workspaceId?: string | null,
    @Arg('search', () => String, { nullable: true, description: 'Part of the name in any case, up to 200 characters.' })
    search?: string | null,
    @Arg('first', () => Int, FIRST) first?: number | null,
    @Arg('after', () => String, AFTER) after?: string | null,
    @Arg('exceptWorkspaceId', () => ID, {
      nullable: true,
      description: 'Only products of other workspaces than this one.',
    })
    exceptWorkspaceId?: string | null,
  ): Promise<Connection<ProductObject>> {
    const limit = readFirst(first);
    const afterKey = readAfter(PRODUCTS, after)?.[0] as number | undefined;
    const filter = { workspaceId, exceptWorkspaceId, search };
    return connectionWith(
      PRODUCTS,
      await this.#products.list(access, { ...filter, limit, afterKey }),
      (product) => product,
      () => this.#products.count(access, filter),
    );
  }

  @Query(() => ProductObject, { description: "One product, by id or by key; NOT_FOUND also for another tenant's." })
  async product(
    @Ctx() { access }: GraphqlContext,
    @Arg('id', () => ID, { nullable: true, description: 'The id of the product; left out: give its key.' })
    id?: string | null,
    @Arg('key', () => String, { nullable: true, description: 'The key that its author chose; in place of the id.' })
    key?: string | null,
    @Arg('workspaceId', () => ID, {
      nullable: true,
      description: 'Where to look for the key; may be left out by a token that sees only one workspace.',
    })
    workspaceId?: string | null,
  ): Promise<ProductObject> {
    if ((id == null) === (key == null)) throw badInput('product: give either an id or a key.');
    if (key != null) return this.#products.getByKey(access, key, { workspaceId });
    const product = await this.#products.get(access, must(id));
    if (workspaceId != null && product.workspace.id !== workspaceId.toLowerCase()) throw notFound('product', must(id));
    return product;
  }

  @Mutation(() => ProductObject, {
    complexity: 100,
    description: 'Fields, decoder with its examples, dashboard, configuration; no devices, a webhook URL of its own.',
  })
  cloneProduct(
    @Ctx() { access, budget }: GraphqlContext,
    @Arg('id', () => ID, { description: 'The product to copy.' }) id: string,
    @Arg('name', () => String, { description: 'The name of the copy, 1 to 200 characters.' }) name: string,
  ): Promise<ProductObject> {
    return this.#products.clone(access, id, name, (bytes) => budget.work(bytes / COPIED_BYTES_PER_MS));
  }

  @Mutation(() => ProductObject, {
    complexity: 100,
    description:
      'Creates a product with its fields and the first version of its decoder: all or nothing. With a key it is safe to ' +
      'send again: answers the product with that key when the input describes it as it was made or as it is, else ' +
      'CONFLICT naming the parts that differ (extensions.differences), with extensions.existingId.',
  })
  createProduct(
    @Ctx() { access }: GraphqlContext,
    @Arg('input', () => CreateProductInput, { description: 'The product.' }) input: CreateProductInput,
  ): Promise<ProductObject> {
    return this.#products.create(access, input);
  }

  @Mutation(() => ProductObject, { description: 'Changes a product; takes effect at once for every device of it.' })
  updateProduct(
    @Ctx() { access }: GraphqlContext,
    @Arg('id', () => ID, { description: 'The id of the product.' }) id: string,
    @Arg('input', () => UpdateProductInput, { description: 'What is to change.' }) input: UpdateProductInput,
  ): Promise<ProductObject> {
    return this.#products.update(access, id, input);
  }

  @Mutation(() => ID, {
    complexity: 1000,
    description: 'With its devices, fields, decoders, calls and measurements.',
  })
  deleteProduct(
    @Ctx() { access }: GraphqlContext,
    @Arg('id', () => ID, { description: 'The id of the product.' }) id: string,
  ): Promise<string> {
    return this.#products.delete(access, id);
  }

  @Mutation(() => ProductObject, { description: 'The old webhook URL is unknown from the answer on.' })
  rotateWebhook(
    @Ctx() { access }: GraphqlContext,
    @Arg('productId', () => ID, { description: 'The product.' }) productId: string,
  ): Promise<ProductObject> {
    return this.#products.rotateWebhook(access, productId);
  }
}
