import type { ConditionOperator, ValueConditionInput } from '../../api/schema-types.ts';
import { t } from '../../texts/texts.ts';

/** A condition on the newest value of a field, as the address and the chips have it: `battery<3.3`. */
export interface ValueCondition {
  field: string;
  sign: Sign;
  value: number | string | boolean;
}

/** Signs of comparisons, longer ones first, with their operators. */
const OPERATORS = {
  '<=': 'LTE',
  '>=': 'GTE',
  '!=': 'NEQ',
  '<': 'LT',
  '>': 'GT',
  '=': 'EQ',
  '~': 'CONTAINS',
} as const satisfies Readonly<Record<string, ConditionOperator>>;

type Sign = keyof typeof OPERATORS;

/** Every sign with what it says. */
export const SIGNS: readonly [sign: Sign, words: string][] = [
  ['<', t('less than')],
  ['<=', t('at most')],
  ['>', t('more than')],
  ['>=', t('at least')],
  ['=', t('equal to')],
  ['!=', t('not equal to')],
  ['~', 'contains'],
];

const WRITTEN = /^\s*([A-Za-z_][\w.-]*)\s*(<=|>=|!=|<|>|=|~)\s*(\S.*?)\s*$/;

/** Reads `battery < 3.3`, also with a decimal comma; null: it is no condition. */
export function readCondition(text: string): ValueCondition | null {
  const [, field, sign, value] = WRITTEN.exec(text) ?? [];
  if (field === undefined || sign === undefined || value === undefined) return null;
  return { field, sign: sign as Sign, value: valueOf(value) };
}

/** The text of a condition in the address. */
export function conditionText({ field, sign, value }: ValueCondition): string {
  return `${field}${sign}${String(value)}`;
}

/** The condition as the API takes it. */
export function conditionInput({ field, sign, value }: ValueCondition): ValueConditionInput {
  return { field, operator: OPERATORS[sign], value };
}

function valueOf(text: string): number | string | boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  const number = Number(/^[+-]?\d+,\d+$/.test(text) ? text.replace(',', '.') : text);
  return Number.isFinite(number) ? number : text;
}
