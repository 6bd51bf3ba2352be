// Written by build/console-operations.ts. Do not edit.
import type { Operation } from '../../api/operation.ts';

/** The query `LookAtServer` of server.graphql. */
export const LookAtServer: Operation<{ installation: { version: string; database: string; nodes: number; workers: number; workersUp: number; redisConnected: boolean | null; replicas: ({ name: string; used: boolean; lagBytes: number | null; lagSeconds: number | null })[]; valuesWaiting: number; decoderCallsWaiting: number; deliveriesWaiting: number; lanes: ({ name: string; waiting: number; refused: number })[] } }, {  }> = { text: "query LookAtServer{installation{version database nodes workers workersUp redisConnected replicas{name used lagBytes lagSeconds}valuesWaiting decoderCallsWaiting deliveriesWaiting lanes{name waiting refused}}}" };
