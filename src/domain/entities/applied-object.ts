import { defineEntity, p } from '@mikro-orm/core';
import { WorkspaceSchema } from './workspace.ts';

/**
 * An object as a configuration document last left it (CONTRACT 11). The set whose document named it owns it: only that
 * one prunes it.
 */
export const AppliedObjectSchema = defineEntity({
  name: 'AppliedObject',
  tableName: 'applied_object',
  properties: {
    workspace: () => p.manyToOne(WorkspaceSchema).primary().deleteRule('cascade'),
    section: p.string().length(20).primary(),
    /** Its name in its section. */
    name: p.text().primary(),
    /** '' for documents without a set. */
    setName: p.string().length(64),
    /** True when the set's last document named it no more: another set may take it over. */
    isLeft: p.boolean(),
    /** JSON text: the parts that the document named, as paths below it. */
    named: p.text(),
    /** JSON text: its normal form after that. */
    state: p.text(),
  },
});
