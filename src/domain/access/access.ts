import { AppError, forbidden, notFound } from '../../errors.ts';
import type { Role } from '../entities/member.ts';
import { noteChangeOf } from './audit-trail.ts';
import type { FieldRight, OperationRight } from './rights.ts';
import { TOKEN_SCOPES, type TokenKind, type TokenScope } from '../entities/token.ts';
import { must } from '../../must.ts';

const ROLE_SCOPES: Record<Role, ReadonlySet<TokenScope>> = {
  VIEWER: new Set<TokenScope>(['READ']),
  EDITOR: new Set<TokenScope>(['READ', 'RECORD', 'CONFIGURE']),
  ADMIN: new Set<TokenScope>(['READ', 'RECORD', 'CONFIGURE', 'ADMIN']),
};

/** The facts of a token that its access follows from. */
export interface AccessInit {
  tokenId: string;
  kind: TokenKind;
  userId: string | null;
  operator: boolean;
  /** Workspace id → scopes of the token there. */
  scopes: Map<string, ReadonlySet<TokenScope>>;
  productIds: string[] | null;
  deviceIds: string[] | null;
  /** Identifiers. */
  fields: string[] | null;
  expiresAt: number | null;
  /** True for a token made by signing in. */
  signedIn: boolean;
}

/** The workspace of a product, as access needs it. */
export interface ProductPlace {
  id: string;
  workspaceId: string;
}

/** The product and workspace of a device, as access needs them; ids are UUIDs. */
export interface DevicePlace {
  id: string;
  productId: string;
  workspaceId: string;
}

/** The rights of a role, as scopes. */
export function scopesOfRole(role: Role): ReadonlySet<TokenScope> {
  return ROLE_SCOPES[role];
}

/**
 * The rights of one token, and the only place that decides them (CONTRACT 1). Things it may not see answer NOT_FOUND,
 * like those that do not exist; things it sees but may not change answer FORBIDDEN. Everything is denied that no line
 * here grants.
 */
export class Access {
  readonly tokenId: string;
  readonly kind: TokenKind;
  readonly userId: string | null;
  /** The tenant that pays for its work: its only workspace, or its user if that sees several. */
  readonly tenant: string;
  readonly operator: boolean;
  readonly expiresAt: number | null;
  /** Limits to products and devices, which cover the union of the two; null: no such limit. */
  readonly productIds: ReadonlySet<string> | null;
  readonly deviceIds: ReadonlySet<string> | null;
  /**
   * Limit to the fields with these identifiers, in every product that the token covers; null: all. Such a token reads
   * and records their values, and is refused what could show others (`field-limits.ts`).
   */
  readonly fields: ReadonlySet<string> | null;
  /** True for a token made by signing in with a password. */
  readonly signedIn: boolean;
  readonly #scopes: Map<string, ReadonlySet<TokenScope>>;

  constructor(init: AccessInit) {
    this.tokenId = init.tokenId;
    this.kind = init.kind;
    this.userId = init.userId;
    this.operator = init.operator;
    this.expiresAt = init.expiresAt;
    this.signedIn = init.signedIn;
    this.productIds = init.productIds && new Set(init.productIds);
    this.deviceIds = init.deviceIds && new Set(init.deviceIds);
    this.fields = init.fields && new Set(init.fields);
    this.#scopes = init.scopes;
    const [workspaceId, ...others] = init.scopes.keys();
    this.tenant = others.length === 0 && workspaceId !== undefined ? workspaceId : (init.userId ?? init.tokenId);
  }

  /** True when limited to some products or devices. */
  get limited(): boolean {
    return this.productIds !== null || this.deviceIds !== null;
  }

  /**
   * Compares with the same token's access `now` (null: the token is gone): whether the token or its user has changed;
   * null: neither.
   */
  changedSince(now: Access | null): 'token' | 'user' | null {
    if (now === null || this.expiresAt !== now.expiresAt) return 'token';
    if (!isSame(this.productIds, now.productIds) || !isSame(this.deviceIds, now.deviceIds)) return 'token';
    if (!isSame(this.fields, now.fields)) return 'token';
    if (this.operator !== now.operator || this.#scopes.size !== now.#scopes.size) return 'user';
    for (const [id, scopes] of this.#scopes) if (!isSame(scopes, now.#scopes.get(id) ?? null)) return 'user';
    return null;
  }

  /** Number of workspaces the token sees. */
  get workspaces(): number {
    return this.#scopes.size;
  }

  /** Every workspace the token sees. */
  workspaceIds(): string[] {
    return [...this.#scopes.keys()];
  }

  /** Adds a new membership of the user for the rest of this request; later requests load it anew. */
  join(workspaceId: string, role: Role): void {
    this.#scopes.set(workspaceId, scopesOfRole(role));
  }

  /** The workspaces where the token has the scope; FORBIDDEN when there is none. */
  workspaceIdsWith(scope: TokenScope): string[] {
    const ids = [...this.#scopes].filter(([, scopes]) => scopes.has(scope)).map(([id]) => id);
    if (ids.length === 0) throw missingScope(scope);
    return ids;
  }

  /** The workspaces to READ in: the one that is `only` wanted, which is checked, else all but `except`. */
  workspacesToRead(only: string | null | undefined, except: string | null | undefined): string[] {
    if (only != null) this.requireWorkspace(only, 'READ');
    const within = only == null ? this.workspaceIdsWith('READ') : [only];
    const excepted = except?.toLowerCase();
    return within.filter((id) => id.toLowerCase() !== excepted);
  }

  /**
   * Checks whether an operation may begin at all. The rights of a PERSONAL token differ by workspace: the operation
   * checks again once it has found the workspace, product or device.
   */
  requireOperation({ needs, whole }: OperationRight): void {
    if (needs === 'everybody' || needs === 'token') return;
    if (needs === 'operator') return this.requireOperator();
    if (needs === 'person') return void this.requireUser();
    if (this.kind === 'PERSONAL') return;
    for (const scope of needs) this.workspaceIdsWith(scope);
    if (whole) this.requireUnlimited();
  }

  /** Checks the right to a field of an object that was already found; `place`: where the object is, if known. */
  requireField({ anyOf, on }: FieldRight, place: ProductPlace | DevicePlace | null): void {
    if (anyOf === 'any') return;
    if (place !== null && on === 'product' && !this.coversProduct(place)) throw notFound('product', place.id);
    if (place !== null && on === 'device' && !this.coversDevice(place as DevicePlace))
      throw notFound('device', place.id);
    const granted = (scopes: ReadonlySet<TokenScope>): boolean => anyOf.some((scope) => scopes.has(scope));
    if (place === null) {
      // Objects without a workspace are for operators, who need not be members of one.
      if (this.operator && anyOf.includes('READ')) return;
      for (const scopes of this.#scopes.values()) if (granted(scopes)) return;
    } else {
      const scopes = this.#scopes.get(place.workspaceId);
      if (scopes !== undefined && granted(scopes)) return;
    }
    throw missingScope(must(anyOf[0]));
  }

  may(workspaceId: string, scope: TokenScope): boolean {
    return this.#scopes.get(workspaceId)?.has(scope) ?? false;
  }

  /** The scopes in a workspace, in the order of the contract. A limited token has no ADMIN: that needs all of it. */
  scopesIn(workspaceId: string): TokenScope[] {
    const whole = !this.limited && this.fields === null;
    return TOKEN_SCOPES.filter((scope) => this.may(workspaceId, scope) && (whole || scope !== 'ADMIN'));
  }

  seesWorkspace(workspaceId: string): boolean {
    return this.#scopes.has(workspaceId);
  }

  coversProduct(product: ProductPlace): boolean {
    return this.seesWorkspace(product.workspaceId) && (!this.limited || (this.productIds?.has(product.id) ?? false));
  }

  coversDevice(device: DevicePlace): boolean {
    if (!this.seesWorkspace(device.workspaceId)) return false;
    return (
      !this.limited || (this.productIds?.has(device.productId) ?? false) || (this.deviceIds?.has(device.id) ?? false)
    );
  }

  /**
   * Checks a scope in a workspace. Reading the workspace itself (its name) is open to all that see it; any other scope
   * needs an unlimited token.
   */
  requireWorkspace(workspaceId: string, scope: TokenScope): void {
    if (!this.seesWorkspace(workspaceId)) throw notFound('workspace', workspaceId);
    if (!this.may(workspaceId, scope)) throw missingScope(scope);
    if (scope !== 'READ') this.requireUnlimited();
    note({ id: workspaceId, workspaceId }, scope, (present) => present.requireWorkspace(workspaceId, scope));
  }

  /** Required for the workspace itself. */
  requireUnlimited(): void {
    if (this.limited)
      throw forbidden('This token is limited to some products or devices; use one that covers the whole workspace.');
    this.requireAllFields();
  }

  /** Required for what may show values or identifiers of any field. */
  requireAllFields(): void {
    if (this.fields !== null) throw forbidden('This token is limited to some fields; use one that covers all of them.');
  }

  /** Required to go on with what began under the rights `before`: FORBIDDEN if fewer fields are covered by now. */
  requireFieldsOf(before: Access): void {
    if (this.fields === null) return;
    if (before.fields === null || [...before.fields].some((identifier) => !this.coversField(identifier)))
      throw forbidden('This token is limited to other fields by now.');
  }

  coversField(identifier: string): boolean {
    return this.fields === null || this.fields.has(identifier);
  }

  /** Those of the fields that the token covers. */
  coveredFields<Field extends { identifier: string }>(fields: Field[]): Field[] {
    return this.fields === null ? fields : fields.filter(({ identifier }) => this.coversField(identifier));
  }

  /** Checks a scope for the product as a whole, which a token limited to devices does not have. */
  requireProduct(product: ProductPlace, scope: TokenScope): void {
    if (!this.coversProduct(product)) throw notFound('product', product.id);
    if (!this.may(product.workspaceId, scope)) throw missingScope(scope);
    note(product, scope, (present) => present.requireProduct(product, scope));
  }

  /**
   * Required for look-ups among all devices of a product, such as whether a serial number is free: a limited token
   * learns nothing of devices outside its limits.
   */
  requireAllDevices(product: ProductPlace): void {
    if (!this.coversProduct(product))
      throw forbidden('This token is limited to some devices of the product; use one that covers all of them.');
  }

  requireDevice(device: DevicePlace, scope: TokenScope): void {
    if (!this.coversDevice(device)) throw notFound('device', device.id);
    if (!this.may(device.workspaceId, scope)) throw missingScope(scope);
    note(device, scope, (present) => present.requireDevice(device, scope));
  }

  /**
   * Required to grant access until `until` (null: for good): tokens, users, their passwords and memberships must not
   * outlive the token that makes them. Tokens that do not expire, and people who signed in, may grant it. The URL of a
   * webhook is not covered: it is shown to all who may CONFIGURE the product, and rotated once they should no longer
   * know it.
   */
  requireOutlasts(until: number | null): void {
    if (this.expiresAt === null || this.signedIn) return;
    if (until === null || until > this.expiresAt)
      throw forbidden('What this token makes must not outlive it: sign in, or set expiresAt no later than its own.');
  }

  requireOperator(): void {
    if (!this.operator) throw forbidden('Only an operator may do this: use the personal token of an operator user.');
  }

  /** The id of a PERSONAL token's user. */
  requireUser(): string {
    if (this.userId === null) throw forbidden('This needs the PERSONAL token of a user.');
    return this.userId;
  }
}

/** Notes a right to change something of the workspace, which is checked again before the change. */
function note({ id, workspaceId }: ProductPlace, scope: TokenScope, askAgain: (present: Access) => void): void {
  if (scope === 'CONFIGURE' || scope === 'ADMIN') noteChangeOf(workspaceId, `${scope} ${id}`, askAgain);
}

function isSame(one: ReadonlySet<string> | null, other: ReadonlySet<string> | null): boolean {
  if (one === null || other === null) return one === other;
  return one.size === other.size && [...one].every((item) => other.has(item));
}

function missingScope(scope: TokenScope): AppError {
  return new AppError('FORBIDDEN', `This token has no scope ${scope} here.`, { details: { scope } });
}
