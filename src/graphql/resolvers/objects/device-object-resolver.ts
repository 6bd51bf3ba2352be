import { Ctx, FieldResolver, ID, Resolver, Root } from 'type-graphql';
import type { Device } from '../../../domain/entities/device.ts';
import type { DeviceClients } from '../../../domain/devices/device-clients.ts';
import { limitOf } from '../../../domain/devices/offline-after.ts';
import type { Plans } from '../../../domain/plans/plans.ts';
import type { DeviceType, Product } from '../../../domain/entities/product.ts';
import { notFound } from '../../../errors.ts';
import type { GraphqlContext } from '../../context/graphql-context.ts';
import { type Promised, whenKnown } from '../../context/promised.ts';
import { ConfigurationValueObject } from '../../types/configuration.ts';
import { DateTime } from '../../types/date-time.ts';
import { DeviceObject, MqttClientObject } from '../../types/device.ts';
import { DeviceTypeEnum } from '../../types/enums.ts';
import { Json } from '../../types/json.ts';
import { LONG_TEXT } from '../../types/long-text.ts';
import { PlanObject } from '../../types/plan.ts';
import { ProductObject } from '../../types/product.ts';

/** Fields of a device from its product, its plan and its last sign of life; values are in device-values-resolver. */
@Resolver(() => DeviceObject)
export class DeviceObjectResolver {
  readonly #plans: Plans;
  readonly #clients: DeviceClients;
  readonly #now: () => number;

  constructor(plans: Plans, clients: DeviceClients, now: () => number) {
    this.#plans = plans;
    this.#clients = clients;
    this.#now = now;
  }

  @FieldResolver(() => DeviceTypeEnum, { description: 'How it sends: the device type of its product.' })
  deviceType(@Root() device: Device, @Ctx() context: GraphqlContext): Promised<DeviceType> {
    return whenKnown(productOf(device, context), ({ deviceType }) => deviceType);
  }

  @FieldResolver(() => ProductObject, { description: 'The product it belongs to.' })
  product(@Root() device: Device, @Ctx() context: GraphqlContext): Promised<ProductObject> {
    return productOf(device, context);
  }

  @FieldResolver(() => ID, { description: 'The id of the workspace that it belongs to.' })
  workspaceId(@Root() { workspace }: Device): string {
    return workspace.id;
  }

  @FieldResolver(() => PlanObject, { description: 'The plan that covers it.' })
  plan(@Root() device: Device): PlanObject {
    return this.#plans.bySlug(device.plan, 'plan');
  }

  @FieldResolver(() => Json, {
    nullable: true,
    complexity: LONG_TEXT,
    description: 'Any JSON that its owner keeps with it, up to 64 KiB.',
  })
  metadata(@Root() { key, metadata }: Device, @Ctx() { loaders }: GraphqlContext): Promised<unknown> {
    // A device whose metadata was just given has them.
    return metadata === undefined ? loaders.metadata.load(key) : metadata;
  }

  @FieldResolver(() => [ConfigurationValueObject], { description: 'What decoders are told about the device.' })
  async configuration(@Root() device: Device, @Ctx() { loaders }: GraphqlContext): Promise<ConfigurationValueObject[]> {
    const fields = await loaders.configurationOfProduct.load(device.product.key);
    if (fields.length === 0) return [];
    const { key, configuration: given } = device as Partial<Device> & Device;
    // A device whose configuration was just set has it.
    const known = given === undefined ? ((await loaders.configuration.load(key))?.toJSON() ?? null) : given;
    const own = known as Record<string, unknown> | null;
    return fields.map((field) => {
      const value = own?.[field.key];
      return { field, value: value ?? field.default ?? null, overridden: value !== undefined && value !== null };
    });
  }

  @FieldResolver(() => [MqttClientObject], {
    description:
      'Clients that have sent values of it over MQTT to the node that answers, since that was started: the last eight, those that sent last first.',
  })
  mqttClients(@Root() { id: deviceId }: Device): MqttClientObject[] {
    return this.#clients.of(deviceId).map(({ client, lastTopic, lastMessageAt }) => {
      const { id: clientId, isConnected: connected, connectedAt } = client;
      return { clientId, connected, connectedAt, lastTopic, lastMessageAt };
    });
  }

  @FieldResolver(() => DateTime, { nullable: true, description: 'When something of it was last received.' })
  lastHeardAt(@Root() { key }: Device, @Ctx() { loaders }: GraphqlContext): Promised<number | null> {
    return loaders.lastHeard.load(key);
  }

  @FieldResolver(() => Boolean, { description: "Heard of within its own offlineAfterSeconds, else its product's." })
  online(@Root() device: Device, @Ctx() context: GraphqlContext): Promised<boolean> {
    return whenKnown(context.loaders.lastHeard.load(device.key), (heardAt) => {
      if (heardAt === null) return false;
      const inTime = (own: number | null | undefined): boolean => heardAt >= this.#now() - limitOf(own ?? null);
      return device.offlineAfterSeconds == null
        ? whenKnown(productOf(device, context), ({ offlineAfterSeconds }) => inTime(offlineAfterSeconds))
        : inTime(device.offlineAfterSeconds);
    });
  }
}

/**
 * The product, by the loader: the one loaded with the device may be older than this request. If product and device were
 * deleted since the device was read, the older one.
 */
function productOf(device: Device, { loaders }: GraphqlContext): Promised<Product> {
  return whenKnown(loaders.product.load(device.product.key), (product) => {
    if (product !== null) return product;
    const before = device.product as Partial<Product>;
    if (before.name === undefined) throw notFound('product', device.product.id);
    return before as Product;
  });
}
