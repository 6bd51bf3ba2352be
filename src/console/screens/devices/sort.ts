import type { DeviceOrder, FieldRole } from '../../api/schema-types.ts';

/** What the list is sorted by. */
export type Sort = { order: DeviceOrder } | { field: string } | { role: FieldRole };
