import { readRecipientsOf } from './recipients.ts';
import { RegularLook } from './regular-look.ts';
import { StatusFollower, type StatusFollowerDeps } from './status-follower.ts';

/** Writes events of silent devices: a follower for each workspace where an endpoint wants them, on one node at a time. */
export class StatusSender {
  readonly #deps: StatusFollowerDeps;
  readonly #followers = new Map<string, StatusFollower>();
  readonly #looks: RegularLook;

  constructor(deps: StatusFollowerDeps) {
    this.#deps = deps;
    this.#looks = new RegularLook(() => this.#look(), deps.onError);
  }

  start(): void {
    this.#looks.start();
  }

  /** Looks now: an endpoint was made or changed. */
  wake(): void {
    this.#looks.wake();
  }

  async stop(): Promise<void> {
    await this.#looks.stop();
    for (const [name, follower] of this.#followers) {
      follower.stop();
      await this.#deps.leases.giveUp(name).catch(this.#deps.onError);
    }
  }

  async #look(): Promise<void> {
    const { database, leases } = this.#deps;
    const recipients = await readRecipientsOf(database.read(), 'device.offline', 'device.online');
    const wanted = new Map(recipients.map(({ workspaceId }) => [`status ${workspaceId}`, workspaceId]));
    for (const [name, follower] of this.#followers)
      if (!wanted.has(name)) {
        this.#followers.delete(name);
        follower.stop();
        await this.#forget(name);
      }
    for (const [name, workspaceId] of wanted) {
      const place = await leases.take(name);
      const follower = this.#followers.get(name);
      if (place === null) {
        this.#followers.delete(name);
        follower?.stop();
      } else if (follower === undefined)
        this.#followers.set(name, new StatusFollower(name, workspaceId, place.position, this.#deps));
    }
  }

  /** Nobody wants to know any more: whoever does later begins with what is silent then. */
  async #forget(name: string): Promise<void> {
    await this.#deps.database.write(async (em) => {
      await em.execute('delete from outgoing_reader where name = ?', [name], 'run');
      await em.execute('delete from silent_device where workspace_id = ?', [name.slice('status '.length)], 'run');
    });
  }
}
