import type { DataOf } from '../../api/operation.ts';
import type { DevicePageQuery } from './device.graphql.ts';

/** A device as its page has it. */
export type ShownDevice = DataOf<typeof DevicePageQuery>['device'];
