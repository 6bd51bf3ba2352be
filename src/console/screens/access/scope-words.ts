import type { Role, TokenScope } from '../../api/schema-types.ts';

/** The rights of each scope, in words. */
export const SCOPE_WORDS: Readonly<Record<TokenScope, string>> = {
  READ: 'see products, devices, values and calls',
  RECORD: 'record values',
  CONFIGURE: 'create, change and delete products, devices and decoders; see webhook addresses',
  ADMIN: 'manage members, tokens and the workspace',
};

/** The rights of each role, in words. */
export const ROLE_WORDS: Readonly<Record<Role, string>> = {
  VIEWER: 'sees everything',
  EDITOR: 'also records and configures',
  ADMIN: 'also manages access',
};

/** Every scope, in the order of the contract. */
export const SCOPES = Object.keys(SCOPE_WORDS) as TokenScope[];
/** Every role, the smallest first. */
export const ROLES = Object.keys(ROLE_WORDS) as Role[];

interface Limits {
  kind: 'PERSONAL' | 'INDIVIDUAL';
  scopes: readonly TokenScope[];
  products: readonly { name: string }[] | null;
  devices: readonly { name: string }[] | null;
  fields: readonly string[] | null;
}

/** The rights of the scopes that a token limited to fields can have. */
const FIELD_WORDS: Readonly<Partial<Record<TokenScope, string>>> = { READ: 'see values', RECORD: 'record values' };

const SHOWN_NAMES = 3;

/** The rights and limits of a token, in one sentence. */
export function tokenWords({ kind, scopes, products, devices, fields }: Limits): string {
  if (kind === 'PERSONAL') return 'May do what its user may, in every workspace of the user.';
  const words = fields === null ? SCOPE_WORDS : { ...SCOPE_WORDS, ...FIELD_WORDS };
  const what = scopes.map((scope) => words[scope]).join('; ');
  const where = [
    named(products, 'product', 'products'),
    named(devices, 'device', 'devices'),
    named(fields?.map((name) => ({ name })) ?? null, 'field', 'fields'),
  ].filter((text) => text !== null);
  return `May ${what}${where.length === 0 ? ', in the whole workspace' : ` – only ${where.join(' and ')}`}.`;
}

function named(items: readonly { name: string }[] | null, one: string, many: string): string | null {
  if (items === null) return null;
  if (items.length === 0) return `${many} that are gone`;
  const names = items.slice(0, SHOWN_NAMES).map(({ name }) => `“${name}”`);
  const more = items.length - names.length;
  return `${items.length === 1 ? one : many} ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
