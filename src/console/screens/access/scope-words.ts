import type { Role, TokenScope } from '../../api/schema-types.ts';
import { counted, t } from '../../texts/texts.ts';

/** The rights of each scope, in words. */
export const SCOPE_WORDS: Readonly<Record<TokenScope, string>> = {
  READ: t('see products, devices, values and calls'),
  RECORD: t('record values'),
  CONFIGURE: t('create, change and delete products, devices and decoders; see webhook addresses'),
  ADMIN: t('manage members, tokens and the workspace'),
};

/** The rights of each role, in words. */
export const ROLE_WORDS: Readonly<Record<Role, string>> = {
  VIEWER: t('sees everything'),
  EDITOR: t('also records and configures'),
  ADMIN: t('also manages access'),
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
const FIELD_WORDS: Readonly<Partial<Record<TokenScope, string>>> = {
  READ: t('see values'),
  RECORD: t('record values'),
};

const SHOWN_NAMES = 3;

/** The rights and limits of a token, in one sentence. */
export function tokenWords({ kind, scopes, products, devices, fields }: Limits): string {
  if (kind === 'PERSONAL') return t('May do what its user may, in every workspace of the user.');
  const words = fields === null ? SCOPE_WORDS : { ...SCOPE_WORDS, ...FIELD_WORDS };
  const what = scopes.map((scope) => words[scope]).join('; ');
  const where = [
    named(products, (count) => counted(count, 'product', 'products')),
    named(devices, (count) => counted(count, 'device', 'devices')),
    named(fields?.map((name) => ({ name })) ?? null, (count) => counted(count, 'field', 'fields')),
  ].filter((text) => text !== null);
  return t('May {what}{text}.', {
    what,
    text: where.length === 0 ? t(', in the whole workspace') : t(' – only {where}', { where: where.join(t(' and ')) }),
  });
}

function named(items: readonly { name: string }[] | null, wordOf: (count: number) => string): string | null {
  if (items === null) return null;
  if (items.length === 0) return t('{many} that are gone', { many: wordOf(0) });
  const names = items.slice(0, SHOWN_NAMES).map(({ name }) => `“${name}”`);
  const more = items.length - names.length;
  return `${wordOf(items.length)} ${names.join(', ')}${more > 0 ? t(' and {more} more', { more }) : ''}`;
}
