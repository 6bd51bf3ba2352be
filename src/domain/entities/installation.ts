import { defineEntity, p } from '@mikro-orm/core';

/**
 * Facts about this installation, the same for all its nodes: `cursor key`, and `admin token <hash>` for each
 * ADMIN_TOKEN seen.
 */
export const InstallationSchema = defineEntity({
  name: 'Installation',
  tableName: 'installation',
  properties: {
    name: p.string().length(100).primary(),
    value: p.string().length(200),
  },
});
