import { Arg, Ctx, Float, ID, Int, Mutation, Query, Resolver } from 'type-graphql';
import type { DeviceList } from '../../domain/devices/device-list.ts';
import type { DeviceService } from '../../domain/devices/device-service.ts';
import type { WriteRateService } from '../../domain/devices/write-rate-service.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import { DEVICES } from '../paging/devices.ts';
import { connectionWith, readAfter, readFirst } from '../paging/page.ts';
import type { Connection } from '../types/connection.ts';
import { DeviceConnection, DeviceInput, DeviceObject, UpdateDeviceInput } from '../types/device.ts';

/** Devices (CONTRACT 1). */
@Resolver()
export class DeviceResolver {
  readonly #devices: DeviceService;
  readonly #list: DeviceList;
  readonly #writeRates: WriteRateService;

  constructor(devices: DeviceService, list: DeviceList, writeRates: WriteRateService) {
    this.#devices = devices;
    this.#list = list;
    this.#writeRates = writeRates;
  }

  @Query(() => DeviceConnection, {
    description: 'In the order of creation. search: part of name or serial number, in any case. tags: all of them.',
  })
  async devices(
    @Ctx() { access }: GraphqlContext,
    @Arg('workspaceId', () => ID, { nullable: true }) workspaceId?: string | null,
    @Arg('productId', () => ID, { nullable: true }) productId?: string | null,
    @Arg('search', () => String, { nullable: true }) search?: string | null,
    @Arg('tags', () => [String], { nullable: true }) tags?: string[] | null,
    @Arg('online', () => Boolean, { nullable: true }) online?: boolean | null,
    @Arg('first', () => Int, { nullable: true }) first?: number | null,
    @Arg('after', () => String, { nullable: true }) after?: string | null,
  ): Promise<Connection<DeviceObject>> {
    const limit = readFirst(first);
    const afterKey = readAfter(DEVICES, after)?.[0] as number | undefined;
    const query = { workspaceId, productId, search, tags, online, limit, afterKey };
    const { items, hasNextPage } = await this.#list.page(access, query);
    return connectionWith(DEVICES, items, hasNextPage);
  }

  @Query(() => DeviceObject)
  device(@Ctx() { access }: GraphqlContext, @Arg('id', () => ID) id: string): Promise<DeviceObject> {
    return this.#devices.get(access, id);
  }

  @Mutation(() => [DeviceObject], {
    description:
      'Creates many devices at once; all or none. Without a serial number one is made; plan: free by default.',
  })
  createDevices(
    @Ctx() { access }: GraphqlContext,
    @Arg('productId', () => ID) productId: string,
    @Arg('devices', () => [DeviceInput]) devices: DeviceInput[],
    @Arg('plan', () => String, { nullable: true }) plan?: string | null,
  ): Promise<DeviceObject[]> {
    return this.#devices.create(access, productId, devices, plan);
  }

  @Mutation(() => DeviceObject, { description: 'Left out: unchanged. null clears tags, metadata or location.' })
  updateDevice(
    @Ctx() { access }: GraphqlContext,
    @Arg('id', () => ID) id: string,
    @Arg('input', () => UpdateDeviceInput) input: UpdateDeviceInput,
  ): Promise<DeviceObject> {
    return this.#devices.update(access, id, input);
  }

  @Mutation(() => [ID], { description: 'With their measurements; all or none.' })
  deleteDevices(@Ctx() { access }: GraphqlContext, @Arg('ids', () => [ID]) ids: string[]): Promise<string[]> {
    return this.#devices.delete(access, ids);
  }

  @Mutation(() => Boolean, {
    description:
      'perSecond null removes the limit, reset true goes back to the wider setting. Give one of the three ids.',
  })
  async setWriteRate(
    @Ctx() { access }: GraphqlContext,
    @Arg('workspaceId', () => ID, { nullable: true }) workspaceId?: string | null,
    @Arg('productId', () => ID, { nullable: true }) productId?: string | null,
    @Arg('deviceId', () => ID, { nullable: true }) deviceId?: string | null,
    @Arg('perSecond', () => Float, { nullable: true }) perSecond?: number | null,
    @Arg('reset', () => Boolean, { nullable: true }) reset?: boolean | null,
  ): Promise<boolean> {
    await this.#writeRates.set(access, { workspaceId, productId, deviceId, perSecond, reset });
    return true;
  }
}
