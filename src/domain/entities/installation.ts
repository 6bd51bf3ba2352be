import { defineEntity, p } from '@mikro-orm/core';

/**
 * Facts about this installation, the same for all its nodes: `cursor key`, `cluster name`, `admin token <hash>` for
 * each ADMIN_TOKEN seen, `changes` (by which nodes tell each other what Redis did not carry, `cluster/change-mark.ts`),
 * and `receipt times of device <key>` (when it may have got some, `measurements/receipt-marks.ts`).
 */
export const InstallationSchema = defineEntity({
  name: 'Installation',
  tableName: 'installation',
  properties: {
    name: p.string().length(100).primary(),
    value: p.string().length(200),
  },
});
