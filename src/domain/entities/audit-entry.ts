import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/**
 * One administrative mutation that succeeded. `workspaceId` null: about the installation (users, workspaces, PERSONAL
 * tokens). No foreign keys: its author and subjects may be deleted since. `id` is a UUIDv7 of `at`.
 */
export const AuditEntrySchema = defineEntity({
  name: 'AuditEntry',
  tableName: 'audit_entry',
  indexes: [{ properties: ['workspaceId', 'id'] }, { properties: ['at'] }],
  properties: {
    id: p.string().length(36).primary(),
    workspaceId: p.string().length(36).nullable(),
    at: p.bigint('number'),
    operation: p.string().length(50),
    tokenId: p.string().length(36),
    /** Name of the token at that time. */
    tokenName: p.string().length(200).nullable(),
    userId: p.string().length(36).nullable(),
    /** Address of the user at that time. */
    userEmail: p.string().length(320).nullable(),
    /** JSON text: the ids of the objects made or changed, at most 20. */
    subjects: p.text(),
    /** JSON text: the arguments, without secrets. */
    arguments: p.text(),
  },
});

/** An entry of the audit log as a row. */
export type AuditEntry = InferEntity<typeof AuditEntrySchema>;
