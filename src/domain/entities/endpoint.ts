import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { SealedParts } from '../keys/same-input.ts';
import { TagListType } from './tag-list.ts';
import { WorkspaceSchema } from './workspace.ts';

/** The ways in which events leave (CONTRACT 13). */
export const ENDPOINT_KINDS = ['WEBHOOK', 'EMAIL', 'ALERTMANAGER'] as const;

/** The way in which events leave: a signed request, a mail, or an alert for Alertmanager. */
export type EndpointKind = (typeof ENDPOINT_KINDS)[number];

/**
 * A receiver of a workspace's events (CONTRACT 13). `key` is the small number that deliveries carry, `authorKey` the
 * contract's `key`. `productIds` null: events of all products; `tags`: those that a device must all have.
 */
export const EndpointSchema = defineEntity({
  name: 'Endpoint',
  tableName: 'endpoint',
  uniques: [{ properties: ['workspace', 'authorKey'] }],
  properties: {
    key: p.integer().primary().autoincrement(),
    id: p.string().length(36).unique(),
    workspace: () => p.manyToOne(WorkspaceSchema).deleteRule('cascade').index(),
    name: p.string().length(200),
    kind: p.string().length(12).$type<EndpointKind>(),
    /** null: EMAIL. */
    url: p.string().length(2048).nullable(),
    /** null: not EMAIL. */
    addresses: p.json().$type<string[]>().nullable(),
    events: p.json().$type<string[]>(),
    productIds: p.json().$type<string[]>().nullable(),
    tags: p.type(TagListType).$type<string[]>(),
    enabled: p.boolean(),
    /** The reason why the server switched it off; null: it is on, or somebody did. */
    disabledReason: p.string().length(500).nullable(),
    /** Time of the first failure since the last success; null: the last try succeeded, or there was none. */
    failingSince: p.bigint('number').nullable(),
    /** True when so much waits that new events are not queued any more. */
    isFull: p.boolean(),
    createdAt: p.bigint('number'),
    /** The key of its author's choice (CONTRACT 11); null: none. */
    authorKey: p.string().length(64).nullable(),
    /** The present secret of a WEBHOOK: kept, as it signs; never shown again. */
    secret: p.string().length(100).nullable().lazy().hidden(),
    /** The secret before, which signs too until `previousUntil` (ms UTC). */
    previousSecret: p.string().length(100).nullable().lazy().hidden(),
    previousUntil: p.bigint('number').nullable().lazy(),
    /** The input that made it, if that had a key (`same-input`). */
    createdFrom: p.json().$type<SealedParts>().nullable().lazy(),
  },
});

/** An endpoint as a row; reading it leaves out the secrets. */
export type Endpoint = InferEntity<typeof EndpointSchema>;
