import { Arg, Ctx, Float, ID, Int, Mutation, Query, Resolver } from 'type-graphql';
import type { DeviceList, DeviceOrder, DevicePosition } from '../../domain/devices/device-list.ts';
import type { DeviceService } from '../../domain/devices/device-service.ts';
import type { WriteRateService } from '../../domain/devices/write-rate-service.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import { deviceOf, devicePaging } from '../paging/devices.ts';
import { connectionWith, readAfter, readFirst } from '../paging/page.ts';
import type { Connection } from '../types/connection.ts';
import { DateTime } from '../types/date-time.ts';
import { DeviceConnection, DeviceInput, DeviceObject, UpdateDeviceInput } from '../types/device.ts';
import { DeviceOrderEnum } from '../types/enums.ts';

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
    description:
      'All conditions given must hold. search: part of name or serial number, in any case. tags: all of them, ' +
      'anyTags: at least one. lastHeardBefore exclusive, lastHeardAfter inclusive; never heard counts as before every ' +
      'time. In the order of creation unless orderBy says otherwise.',
  })
  async devices(
    @Ctx() { access }: GraphqlContext,
    @Arg('workspaceId', () => ID, { nullable: true }) workspaceId?: string | null,
    @Arg('productId', () => ID, { nullable: true }) productId?: string | null,
    @Arg('ids', () => [ID], { nullable: true }) ids?: string[] | null,
    @Arg('search', () => String, { nullable: true }) search?: string | null,
    @Arg('tags', () => [String], { nullable: true }) tags?: string[] | null,
    @Arg('anyTags', () => [String], { nullable: true }) anyTags?: string[] | null,
    @Arg('online', () => Boolean, { nullable: true }) online?: boolean | null,
    @Arg('lastHeardBefore', () => DateTime, { nullable: true }) lastHeardBefore?: number | null,
    @Arg('lastHeardAfter', () => DateTime, { nullable: true }) lastHeardAfter?: number | null,
    @Arg('orderBy', () => DeviceOrderEnum, { nullable: true }) orderBy?: DeviceOrder | null,
    @Arg('descending', () => Boolean, { nullable: true }) descending?: boolean | null,
    @Arg('first', () => Int, { nullable: true }) first?: number | null,
    @Arg('after', () => String, { nullable: true }) after?: string | null,
  ): Promise<Connection<DeviceObject>> {
    const limit = readFirst(first);
    const order = { orderBy: orderBy ?? 'CREATED', descending: descending ?? false } as const;
    const paging = devicePaging(order.orderBy, order.descending);
    const place = readAfter(paging, after) as DevicePosition | null;
    const filter = { workspaceId, productId, ids, search, tags, anyTags, online, lastHeardBefore, lastHeardAfter };
    const page = await this.#list.page(access, { ...filter, ...order, limit, after: place });
    return connectionWith(paging, page, deviceOf, () => this.#list.count(access, filter));
  }

  @Query(() => DeviceObject, {
    nullable: true,
    description:
      'Exact, hexadecimal EUIs without regard to case; null: none; several: CONFLICT, narrow by product or workspace.',
  })
  deviceBySerialNumber(
    @Ctx() { access }: GraphqlContext,
    @Arg('serialNumber', () => String) serialNumber: string,
    @Arg('productId', () => ID, { nullable: true }) productId?: string | null,
    @Arg('workspaceId', () => ID, { nullable: true }) workspaceId?: string | null,
  ): Promise<DeviceObject | null> {
    return this.#list.bySerialNumber(access, serialNumber, { productId, workspaceId });
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

  @Mutation(() => DeviceObject, {
    description:
      'The device goes on with another sensor: takes its serial number, and, from a device of its product that already ' +
      'has it (absorb), what that one recorded; the absorbed device is gone.',
  })
  replaceDevice(
    @Ctx() { access }: GraphqlContext,
    @Arg('id', () => ID) id: string,
    @Arg('serialNumber', () => String) serialNumber: string,
    @Arg('absorb', () => ID, { nullable: true }) absorb?: string | null,
  ): Promise<DeviceObject> {
    return this.#devices.replace(access, id, serialNumber, absorb ?? null);
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
