import { Arg, Ctx, FieldResolver, ID, Int, Resolver, Root } from 'type-graphql';
import type { DeviceList } from '../../../domain/devices/device-list.ts';
import type { DevicePosition } from '../../../domain/devices/device-order.ts';
import type { FieldService } from '../../../domain/products/field-service.ts';
import { placeOfProduct } from '../../../domain/access/find-product.ts';
import type { Product } from '../../../domain/entities/product.ts';
import { type Dashboard, seenDashboard } from '../../../domain/products/dashboard.ts';
import { notFound } from '../../../errors.ts';
import type { GraphqlContext } from '../../context/graphql-context.ts';
import { type Promised, whenKnown } from '../../context/promised.ts';
import { ShownJson } from '../../context/shown-json.ts';
import { AFTER, FIRST, connectionWith, readAfter, readFirst } from '../../paging/page.ts';
import type { Connection } from '../../types/connection.ts';
import { DeviceConnection, type DeviceObject } from '../../types/device.ts';
import { ConfigurationFieldObject } from '../../types/configuration.ts';
import { FieldObject, SuggestedFieldObject } from '../../types/field.ts';
import { Json } from '../../types/json.ts';
import { LONG_TEXT } from '../../types/long-text.ts';
import { ProductObject, WebhookAnswerObject } from '../../types/product.ts';
import { RuleObject } from '../../types/rule.ts';
import { bytesOfListed, deviceOf, devicePaging, knowDevices } from '../../paging/devices.ts';

/** Calls and decoders of a product are in product-calls-resolver and product-decoder-resolver. */
@Resolver(() => ProductObject)
export class ProductObjectResolver {
  readonly #fields: FieldService;
  readonly #devices: DeviceList;
  readonly #baseUrl: () => string;

  /** `baseUrl`: BASE_URL without a final slash. */
  constructor(fields: FieldService, devices: DeviceList, baseUrl: () => string) {
    this.#fields = fields;
    this.#devices = devices;
    this.#baseUrl = baseUrl;
  }

  @FieldResolver(() => String, {
    nullable: true,
    description: 'The name that its author chose for scripts, unique in the workspace; null: none.',
  })
  key(@Root() { authorKey }: Product): string | null {
    return authorKey ?? null;
  }

  @FieldResolver(() => ID, { description: 'The id of the workspace that it belongs to.' })
  workspaceId(@Root() { workspace }: Product): string {
    return workspace.id;
  }

  @FieldResolver(() => String, { description: 'Who knows it can send: needs scope CONFIGURE.' })
  webhookId(@Root() product: Product, @Ctx() { access }: GraphqlContext): string {
    access.requireProduct(placeOfProduct(product), 'CONFIGURE');
    return product.webhookId;
  }

  @FieldResolver(() => String, { description: 'Needs scope CONFIGURE.' })
  webhookUrl(@Root() product: Product, @Ctx() { access }: GraphqlContext): string {
    access.requireProduct(placeOfProduct(product), 'CONFIGURE');
    return `${this.#baseUrl()}/integrations/api/${product.webhookId}/`;
  }

  @FieldResolver(() => Boolean, {
    description: 'Whether senders are answered 200 wherever something was stored or kept, never 202 or 207.',
  })
  answer200(@Root() { key }: Product, @Ctx() { loaders }: GraphqlContext): Promised<boolean> {
    return whenKnown(loaders.answersOfProduct.load(key), ({ always200 }) => always200);
  }

  @FieldResolver(() => WebhookAnswerObject, {
    nullable: true,
    complexity: LONG_TEXT,
    description: 'What its webhook answers for calls that are kept, unless the decoder says; null: the counts.',
  })
  webhookAnswer(@Root() product: Product, @Ctx() { loaders }: GraphqlContext): Promised<WebhookAnswerObject | null> {
    return whenKnown(loaders.answersOfProduct.load(product.key), ({ webhook }) => webhook);
  }

  @FieldResolver(() => Json, {
    complexity: LONG_TEXT,
    description:
      "What its devices' page shows: {widgets: [{kind, title, fields, range, place, options}]}, up to 200 widgets and 256 KiB.",
  })
  dashboard(@Root() { id, key, dashboard }: Product, @Ctx() { access, loaders }: GraphqlContext): Promised<unknown> {
    if (dashboard !== undefined) return dashboard;
    return whenKnown(loaders.dashboard.load(key), (read) => {
      if (read === null) throw notFound('product', id);
      if (access.fields === null) return read;
      const covers = (identifier: string): boolean => access.coversField(identifier);
      return whenKnown(loaders.fieldsOfProduct.load(key), (fields) => {
        const hidden = fields.map(({ identifier }) => identifier).filter((identifier) => !covers(identifier));
        return new ShownJson(read.text, (document) => seenDashboard(document as Dashboard, covers, new Set(hidden)));
      });
    });
  }

  @FieldResolver(() => [FieldObject], {
    complexity: ({ childComplexity }) => 1 + 20 * childComplexity,
    description: 'What its devices measure, in the order in which the fields were added.',
  })
  fields(@Root() { key }: Product, @Ctx() { access, loaders }: GraphqlContext): Promised<FieldObject[]> {
    return whenKnown(loaders.fieldsOfProduct.load(key), (fields) => access.coveredFields(fields));
  }

  @FieldResolver(() => FieldObject, {
    nullable: true,
    description: 'One of its fields; null: there is none with this identifier.',
  })
  async field(
    @Root() { key }: Product,
    @Ctx() { access, loaders }: GraphqlContext,
    @Arg('identifier', () => String, { description: 'The identifier of the field, matched exactly.' })
    identifier: string,
  ): Promise<FieldObject | null> {
    const fields = access.coveredFields(await loaders.fieldsOfProduct.load(key));
    return fields.find((field) => field.identifier === identifier) ?? null;
  }

  @FieldResolver(() => [ConfigurationFieldObject], {
    complexity: ({ childComplexity }) => 1 + 20 * childComplexity,
    description: 'What decoders can be told about devices.',
  })
  configurationFields(
    @Root() { key }: Product,
    @Ctx() { loaders }: GraphqlContext,
  ): Promised<ConfigurationFieldObject[]> {
    return loaders.configurationOfProduct.load(key);
  }

  @FieldResolver(() => [RuleObject], {
    complexity: ({ childComplexity }) => 1 + 10 * childComplexity,
    description: 'What watches its devices, in the order in which it was made.',
  })
  rules(@Root() { key }: Product, @Ctx() { loaders }: GraphqlContext): Promised<RuleObject[]> {
    return loaders.rulesOfProduct.load(key);
  }

  @FieldResolver(() => [SuggestedFieldObject], {
    complexity: ({ childComplexity }) => 1 + 20 * childComplexity,
    description: 'Identifiers that were sent but are no fields.',
  })
  suggestedFields(
    @Root() { id }: Product,
    @Ctx() { access, loaders }: GraphqlContext,
  ): Promised<SuggestedFieldObject[]> {
    return loaders.list(`suggested fields of ${id}`, () => this.#fields.suggestions(access, id));
  }

  @FieldResolver(() => DeviceConnection, { description: 'Its devices, in the order of creation.' })
  async devices(
    @Root() { id }: Product,
    @Ctx() { access, budget, loaders, asker }: GraphqlContext,
    @Arg('first', () => Int, FIRST) first?: number | null,
    @Arg('after', () => String, AFTER) after?: string | null,
  ): Promise<Connection<DeviceObject>> {
    const limit = readFirst(first);
    const paging = devicePaging({ orderBy: 'CREATED', orderByValue: null, descending: false });
    const place = readAfter(paging, after) as DevicePosition | null;
    const filter = { productId: id };
    const order = { orderBy: 'CREATED', descending: false } as const;
    await budget.room(0);
    const page = await this.#devices.page(access, { ...filter, ...order, limit, after: place }, asker);
    budget.holds(bytesOfListed(page));
    knowDevices(loaders, page.items);
    return connectionWith(paging, page, deviceOf, () => this.#devices.count(access, filter, asker));
  }
}
