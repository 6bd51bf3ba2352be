import type { Edit, Plan } from './edit.ts';
import { planCompaction } from './plan-compaction.ts';
import { planExpiry } from './plan-expiry.ts';
import { planFill } from './plan-fill.ts';
import { planRemoval } from './plan-removal.ts';
import type { Snapshot } from './snapshot.ts';

/** The next slice of an edit. No other may edit the device until its change is written; recording may go on. */
export function planEdit(snapshot: Snapshot, deviceKey: number, edit: Edit): Promise<Plan> {
  switch (edit.kind) {
    case 'compact':
      return planCompaction(snapshot, deviceKey, edit);
    case 'remove':
      return planRemoval(snapshot, deviceKey, edit);
    case 'expire':
      return planExpiry(snapshot, deviceKey, edit);
    case 'fill':
      return planFill(snapshot, deviceKey, edit);
  }
}
