import type { Transition } from '../rules/judge-state.ts';

/** Changes of one rule for one device. */
export interface RuleChange {
  ruleKey: number;
  transitions: Transition[];
}

/** A device as the rules see it after some events. */
export interface Judged {
  deviceKey: number;
  workspaceId: string;
  /** The row as it was read and as it is to be; null: none. */
  before: string | null;
  after: string | null;
  dueAt: number | null;
  changes: RuleChange[];
}
