import type { Device } from '../../domain/entities/device.ts';
import type { Paging } from './page.ts';

/** Lists of devices are in the order of creation. */
export const DEVICES: Paging<Device> = { kind: 'device', shape: ['number'], keyOf: (device) => [device.key] };
