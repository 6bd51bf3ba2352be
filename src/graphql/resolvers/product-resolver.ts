import { Arg, Ctx, ID, Int, Mutation, Query, Resolver } from 'type-graphql';
import type { Product } from '../../domain/entities/product.ts';
import type { ProductService } from '../../domain/products/product-service.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import { connectionWith, type Paging, readAfter, readFirst } from '../paging/page.ts';
import type { Connection } from '../types/connection.ts';
import { CreateProductInput, ProductConnection, ProductObject, UpdateProductInput } from '../types/product.ts';

const PRODUCTS: Paging<Product> = { kind: 'product', shape: ['number'], keyOf: (product) => [product.key] };

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
    @Arg('workspaceId', () => ID, { nullable: true }) workspaceId?: string | null,
    @Arg('search', () => String, { nullable: true }) search?: string | null,
    @Arg('first', () => Int, { nullable: true }) first?: number | null,
    @Arg('after', () => String, { nullable: true }) after?: string | null,
  ): Promise<Connection<ProductObject>> {
    const limit = readFirst(first);
    const afterKey = readAfter(PRODUCTS, after)?.[0] as number | undefined;
    const filter = { workspaceId, search };
    return connectionWith(
      PRODUCTS,
      await this.#products.list(access, { ...filter, limit, afterKey }),
      (product) => product,
      () => this.#products.count(access, filter),
    );
  }

  @Query(() => ProductObject)
  product(@Ctx() { access }: GraphqlContext, @Arg('id', () => ID) id: string): Promise<ProductObject> {
    return this.#products.get(access, id);
  }

  @Mutation(() => ProductObject, {
    complexity: 100,
    description: 'Fields, decoder with its examples, dashboard, configuration; no devices, a webhook URL of its own.',
  })
  cloneProduct(
    @Ctx() { access }: GraphqlContext,
    @Arg('id', () => ID) id: string,
    @Arg('name', () => String) name: string,
  ): Promise<ProductObject> {
    return this.#products.clone(access, id, name);
  }

  @Mutation(() => ProductObject, { complexity: 100 })
  createProduct(
    @Ctx() { access }: GraphqlContext,
    @Arg('input', () => CreateProductInput) input: CreateProductInput,
  ): Promise<ProductObject> {
    return this.#products.create(access, input);
  }

  @Mutation(() => ProductObject)
  updateProduct(
    @Ctx() { access }: GraphqlContext,
    @Arg('id', () => ID) id: string,
    @Arg('input', () => UpdateProductInput) input: UpdateProductInput,
  ): Promise<ProductObject> {
    return this.#products.update(access, id, input);
  }

  @Mutation(() => ID, { description: 'With its devices, fields, decoders, calls and measurements.' })
  deleteProduct(@Ctx() { access }: GraphqlContext, @Arg('id', () => ID) id: string): Promise<string> {
    return this.#products.delete(access, id);
  }

  @Mutation(() => ProductObject, { description: 'The old webhook URL is unknown from the answer on.' })
  rotateWebhook(
    @Ctx() { access }: GraphqlContext,
    @Arg('productId', () => ID) productId: string,
  ): Promise<ProductObject> {
    return this.#products.rotateWebhook(access, productId);
  }
}
