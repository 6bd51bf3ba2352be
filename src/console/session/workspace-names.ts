/** A workspace with what tells it from others of its name. */
interface NamedWorkspace {
  id: string;
  name: string;
  /** The end of its id; null: no other is called like it. */
  mark: string | null;
}

const MARK_LENGTH = 4;

/** Tells workspaces of one name apart. */
export function tellApart(workspaces: readonly { id: string; name: string }[]): NamedWorkspace[] {
  return workspaces.map(({ id, name }) => {
    const isShared = workspaces.some((other) => other.id !== id && other.name === name);
    return { id, name, mark: isShared ? id.slice(-MARK_LENGTH) : null };
  });
}
