// Written by build/console-operations.ts. Do not edit.
import type { Operation } from '../../api/operation.ts';

/** The query `Home` of home.graphql. */
export const Home: Operation<{ workspace: { name: string; fleet: { devices: number; online: number; lowBattery: number | null; firing: number; unknownDevices: number; failingDecoders: ({ product: { id: string; name: string }; lastFailedAt: string })[]; valuesADay: ({ day: string; values: number })[] } } }, { workspaceId: string }> = { text: "query Home($workspaceId:ID!){workspace(id:$workspaceId){name fleet{devices online lowBattery firing unknownDevices failingDecoders{product{id name}lastFailedAt}valuesADay{day values}}}}" };

/** The query `HomePlaces` of home.graphql. */
export const HomePlaces: Operation<{ workspace: { places: ({ deviceId: string; name: string; online: boolean; place: string })[] } }, { workspaceId: string }> = { text: "query HomePlaces($workspaceId:ID!){workspace(id:$workspaceId){places(first:10000){deviceId name online place}}}" };
