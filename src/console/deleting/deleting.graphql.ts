// Written by build/console-operations.ts. Do not edit.
import type { Operation } from '../api/operation.ts';

/** The mutation `CountValues` of deleting.graphql. */
export const CountValues: Operation<{ deleteMeasurements: { measurements: number } }, { deviceId: string; from: string; to: string }> = { text: "mutation CountValues($deviceId:ID!$from:DateTime!$to:DateTime!){deleteMeasurements(deviceId:$deviceId from:$from to:$to dryRun:true){measurements}}" };

/** The mutation `RemoveDevices` of deleting.graphql. */
export const RemoveDevices: Operation<{ deleteDevices: (string)[] }, { ids: readonly (string)[] }> = { text: "mutation RemoveDevices($ids:[ID!]!){deleteDevices(ids:$ids)}" };
