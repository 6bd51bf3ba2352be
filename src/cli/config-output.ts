/** A change as the server tells it. */
export interface Change {
  action: string;
  path: string;
  before: unknown;
  after: unknown;
  measurements: number | null;
}

/** A plan as the server tells it. */
export interface Plan {
  hash: string;
  pending: Change[];
  drift: Change[];
  blocked: { path: string; message: string }[];
}

/** Maximum characters of a value that are shown. */
const MAX_SHOWN = 60;
const SIGNS: Readonly<Record<string, string>> = { CREATE: '+', UPDATE: '~', DELETE: '-' };

/** Prints a plan: as JSON, or a line for each change, with the file of its product. `files`: by name. */
export function tellPlan(plan: Plan, files: ReadonlyMap<string, string>, asJson: boolean): void {
  if (asJson) {
    console.log(JSON.stringify(plan, null, 2));
    return;
  }
  const { pending, drift, blocked } = plan;
  const lines = pending.map((change) => `${lineOf(change)}${place(change.path, files)}`);
  if (drift.length > 0)
    lines.push('changed by other hands since the last apply:', ...drift.map((change) => `  ${lineOf(change)}`));
  for (const { path, message } of blocked) lines.push(`! ${path}: ${message}${place(path, files)}`);
  lines.push(pending.length + drift.length + blocked.length === 0 ? 'nothing to do' : summaryOf(plan));
  console.log(lines.join('\n'));
}

function summaryOf({ pending, drift, blocked }: Plan): string {
  const parts = [`${pending.length} ${pending.length === 1 ? 'change' : 'changes'}`];
  if (drift.length > 0) parts.push(`${drift.length} by other hands`);
  if (blocked.length > 0) parts.push(`${blocked.length} blocked`);
  return parts.join(', ');
}

function lineOf({ action, path, before, after, measurements }: Change): string {
  const values = action === 'UPDATE' ? `: ${shown(before)} → ${shown(after)}` : '';
  const taken = measurements === null || measurements === 0 ? '' : ` (with ${measurements} measurements)`;
  return `${SIGNS[action] ?? action} ${path}${values}${taken}`;
}

function place(path: string, files: ReadonlyMap<string, string>): string {
  const name = /^products\[((?:[\w-]+|"(?:[^"\\]|\\.)*")(?:#\d+)?)\]/.exec(path)?.[1];
  const file = name === undefined ? undefined : files.get(name);
  return file === undefined ? '' : `  (${file})`;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
