import { here, href, navigate } from '../../navigation/place.ts';
import { conditionText, type ValueCondition } from './value-condition.ts';

/** Puts the conditions on values into the address, each once. */
export function setConditions(conditions: readonly ValueCondition[]): void {
  const { path, query } = here();
  const next = new URLSearchParams(query);
  next.delete('value');
  for (const text of new Set(conditions.map(conditionText))) next.append('value', text);
  const text = next.toString();
  navigate(`${href(path)}${text === '' ? '' : `?${text}`}`, { replace: true });
}
