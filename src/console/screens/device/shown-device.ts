import type { DataOf } from '../../api/operation.ts';
import type { DevicePageQuery } from './device.graphql.ts';

/** A device as its page has it. */
export type ShownDevice = DataOf<typeof DevicePageQuery>['device'];

/** An alert of the device that fires. */
export type FiringAlert = DataOf<typeof DevicePageQuery>['alerts']['edges'][number]['node'];
