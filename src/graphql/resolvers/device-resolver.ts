import { Arg, Args, Ctx, Float, ID, Int, Mutation, Query, Resolver } from 'type-graphql';
import type { DeviceList } from '../../domain/devices/device-list.ts';
import type { DeviceOrder, DevicePosition } from '../../domain/devices/device-order.ts';
import type { DeviceService } from '../../domain/devices/device-service.ts';
import type { OnExisting } from '../../domain/devices/device-wish.ts';
import type { FieldRole } from '../../domain/entities/field.ts';
import type { WriteRateService } from '../../domain/devices/write-rate-service.ts';
import { badInput } from '../../errors.ts';
import type { FairScheduler } from '../../scheduling/fair-scheduler.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import { priceOfEach } from '../operation/operation-cost.ts';
import { bytesOfListed, deviceOf, devicePaging, knowDevices } from '../paging/devices.ts';
import { AFTER, FIRST, connectionWith, readAfter, readFirst } from '../paging/page.ts';
import type { Connection } from '../types/connection.ts';
import { DeviceFilterArgs } from '../types/device-filter-args.ts';
import { DeviceConnection, DeviceInput, DeviceObject, UpdateDeviceInput } from '../types/device.ts';
import { DeviceOrderEnum, FieldRoleEnum, OnExistingEnum } from '../types/enums.ts';

/** Price of making or deleting one. */
const DEVICE_PRICE = 0.5;

/** Devices (CONTRACT 1). */
@Resolver()
export class DeviceResolver {
  readonly #devices: DeviceService;
  readonly #list: DeviceList;
  readonly #writeRates: WriteRateService;
  readonly #shares: FairScheduler;

  constructor(devices: DeviceService, list: DeviceList, writeRates: WriteRateService, shares: FairScheduler) {
    this.#shares = shares;
    this.#devices = devices;
    this.#list = list;
    this.#writeRates = writeRates;
  }

  @Query(() => DeviceConnection, {
    description:
      'All conditions given must hold. search: part of name, serial number, location, tags or metadata, in any case. ' +
      'tags: all of them, anyTags: at least one. lastHeardBefore exclusive, lastHeardAfter inclusive; never heard counts ' +
      'as before every time. In the order of creation unless orderBy, orderByField or orderByRole says otherwise; in that ' +
      'of names, numbers sort by their size.',
  })
  async devices(
    @Ctx() { access, budget, loaders, asker }: GraphqlContext,
    @Args(() => DeviceFilterArgs) filter: DeviceFilterArgs,
    @Arg('orderBy', () => DeviceOrderEnum, { nullable: true, description: 'The order; left out: CREATED.' })
    orderBy?: DeviceOrder | null,
    @Arg('orderByField', () => String, {
      nullable: true,
      description:
        'In place of orderBy: by the newest value of the field with this identifier; devices without one come last, ' +
        'either way. At most 10,000 devices.',
    })
    orderByField?: string | null,
    @Arg('orderByRole', () => FieldRoleEnum, {
      nullable: true,
      description: 'In place of orderBy: as orderByField, by the field with this role.',
    })
    orderByRole?: FieldRole | null,
    @Arg('descending', () => Boolean, { nullable: true, description: 'true: the order turned round; left out: false.' })
    descending?: boolean | null,
    @Arg('first', () => Int, FIRST) first?: number | null,
    @Arg('after', () => String, AFTER) after?: string | null,
  ): Promise<Connection<DeviceObject>> {
    const limit = readFirst(first);
    const orders = [orderBy, orderByField, orderByRole].filter((one) => one != null);
    if (orders.length > 1) throw badInput('Give at most one of "orderBy", "orderByField" and "orderByRole".');
    const isByValue = orderByField != null || orderByRole != null;
    const orderByValue = isByValue ? { field: orderByField, role: orderByRole } : null;
    const order = { orderBy: orderBy ?? 'CREATED', descending: descending ?? false, orderByValue } as const;
    const paging = devicePaging(order);
    const place = readAfter(paging, after) as DevicePosition | null;
    await budget.room(0);
    const query = Object.assign({ limit, after: place, ...order }, filter);
    const page = await this.#list.page(access, query, asker);
    budget.holds(bytesOfListed(page));
    knowDevices(loaders, page.items);
    return connectionWith(paging, page, deviceOf, () => this.#list.count(access, filter, asker));
  }

  @Query(() => DeviceObject, {
    nullable: true,
    description:
      'Exact, hexadecimal EUIs without regard to case; null: none; several: CONFLICT, narrow by product or workspace.',
  })
  deviceBySerialNumber(
    @Ctx() { access, asker }: GraphqlContext,
    @Arg('serialNumber', () => String, { description: 'The serial number, up to 200 characters.' })
    serialNumber: string,
    @Arg('productId', () => ID, { nullable: true, description: 'Look only in this product.' })
    productId?: string | null,
    @Arg('workspaceId', () => ID, { nullable: true, description: 'Look only in this workspace.' })
    workspaceId?: string | null,
  ): Promise<DeviceObject | null> {
    return this.#list.bySerialNumber(access, serialNumber, { productId, workspaceId }, asker);
  }

  @Query(() => DeviceObject, { description: "One device; NOT_FOUND also for another tenant's." })
  async device(
    @Ctx() { access, loaders }: GraphqlContext,
    @Arg('id', () => ID, { description: 'The id of the device.' }) id: string,
  ): Promise<DeviceObject> {
    const device = await this.#devices.get(access, id);
    loaders.product.know(device.product.key, device.product);
    return device;
  }

  @Mutation(() => [DeviceObject], {
    complexity: ({ args, childComplexity }) => priceOfEach(args['devices'], DEVICE_PRICE + childComplexity),
    description:
      'Creates many devices at once; all or none. Without a serial number one is made; plan: free by default. Answers ' +
      'every device in the order of the input, also those that were there (onExisting).',
  })
  createDevices(
    @Ctx() { access }: GraphqlContext,
    @Arg('productId', () => ID, { description: 'The product they are to belong to.' }) productId: string,
    @Arg('devices', () => [DeviceInput], { description: '1 to 10,000 devices.' }) devices: DeviceInput[],
    @Arg('plan', () => String, {
      nullable: true,
      description: 'The slug of the plan that is to cover them (see plans); PLAN_LIMIT when they are too many for it.',
    })
    plan?: string | null,
    @Arg('onExisting', () => OnExistingEnum, {
      nullable: true,
      description: 'What happens to a device of the product that has the serial number already; left out: FAIL.',
    })
    onExisting?: OnExisting | null,
  ): Promise<DeviceObject[]> {
    return this.#devices.create(access, productId, devices, plan, { onExisting: onExisting ?? 'FAIL' });
  }

  @Mutation(() => DeviceObject, {
    description:
      'Left out: unchanged. null clears tags, metadata or location. A plan that keeps less of the history than there is ' +
      'needs confirm: CONFLICT says how many values it would take, which go seven days after the change. So does a move ' +
      'to a product that has no field for some of its values, which go at once.',
  })
  updateDevice(
    @Ctx() { access }: GraphqlContext,
    @Arg('id', () => ID, { description: 'The id of the device.' }) id: string,
    @Arg('input', () => UpdateDeviceInput, { description: 'What is to change.' }) input: UpdateDeviceInput,
    @Arg('confirm', () => Boolean, {
      nullable: true,
      description:
        'true: also where the other plan or product takes history (see planChange, productChange); left out: false.',
    })
    confirm?: boolean | null,
  ): Promise<DeviceObject> {
    const { piece } = this.#shares.backgroundOf(access);
    return this.#devices.update(access, id, input, { isConfirmed: confirm === true, piece });
  }

  @Mutation(() => DeviceObject, {
    description:
      'The device goes on with another sensor: takes its serial number, and, from a device of its product that already ' +
      'has it (absorb), what that one recorded; the absorbed device is gone.',
  })
  replaceDevice(
    @Ctx() { access }: GraphqlContext,
    @Arg('id', () => ID, { description: 'The device that goes on.' }) id: string,
    @Arg('serialNumber', () => String, { description: 'The serial number of the new sensor, up to 100 characters.' })
    serialNumber: string,
    @Arg('absorb', () => ID, {
      nullable: true,
      description: 'The device that has this serial number by now; left out: there must be none.',
    })
    absorb?: string | null,
  ): Promise<DeviceObject> {
    return this.#devices.replace(access, id, serialNumber, absorb ?? null);
  }

  @Mutation(() => [ID], {
    complexity: ({ args }) => priceOfEach(args['ids'], DEVICE_PRICE),
    description: 'With their measurements; all or none.',
  })
  deleteDevices(
    @Ctx() { access }: GraphqlContext,
    @Arg('ids', () => [ID], { description: 'At most 10,000 devices.' }) ids: string[],
  ): Promise<string[]> {
    return this.#devices.delete(access, ids);
  }

  @Mutation(() => Boolean, {
    description:
      'perSecond null or 0 removes the limit, reset true goes back to the wider setting. Give one of the three ids.',
  })
  async setWriteRate(
    @Ctx() { access }: GraphqlContext,
    @Arg('workspaceId', () => ID, {
      nullable: true,
      description: 'Of all devices of this workspace; needs scope ADMIN.',
    })
    workspaceId?: string | null,
    @Arg('productId', () => ID, { nullable: true, description: 'Of all devices of this product.' })
    productId?: string | null,
    @Arg('deviceId', () => ID, { nullable: true, description: 'Of this device.' }) deviceId?: string | null,
    @Arg('perSecond', () => Float, {
      nullable: true,
      description:
        'Writes per second for each device and field; null or 0: no limit; else from one in ten days (1/864000) to 1,000,000.',
    })
    perSecond?: number | null,
    @Arg('reset', () => Boolean, {
      nullable: true,
      description: 'true: no setting of its own any more; in place of perSecond.',
    })
    reset?: boolean | null,
  ): Promise<boolean> {
    await this.#writeRates.set(access, { workspaceId, productId, deviceId, perSecond, reset });
    return true;
  }
}
