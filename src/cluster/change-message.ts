import type { Change } from '../domain/ports/cluster.ts';

/** Message of a node with its changes, acknowledged by its `id`. */
export interface ChangeMessage {
  id: string;
  from: string;
  changes: Change[];
}

/** Reads a message from Redis, where others may write too; null: it is not valid. */
export function readChangeMessage(text: string): ChangeMessage | null {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return null;
  }
  const { id, from, changes } = fieldsOf(message);
  if (!isText(id) || !isText(from) || !Array.isArray(changes) || !changes.every(isChange)) return null;
  return { id, from, changes };
}

function isChange(value: unknown): value is Change {
  const { kind, id, productId, workspaceId, ids } = fieldsOf(value);
  switch (kind) {
    case 'token':
    case 'user':
    case 'workspace':
    case 'product':
    case 'moved':
      return isText(id);
    case 'devices':
      // Earlier versions name no workspace.
      if (workspaceId !== undefined && !isText(workspaceId)) return false;
      return isText(productId) && Array.isArray(ids) && ids.every(isText);
    default:
      return kind === 'everything';
  }
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
