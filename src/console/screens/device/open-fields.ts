import { setParameters, usePlace } from '../../navigation/place.ts';
import type { DeviceField } from './device.graphql.ts';

/** Products of at most so many fields show all their charts. */
const FEW = 6;
/** Charts shown of more fields without a role. */
const FIRST = 4;
/** The parameter of the address when every chart is folded. */
const NONE = '-';

/** Which charts are open, from the address. */
export interface OpenFields {
  has: (identifier: string) => boolean;
  /** Opens or folds a chart. */
  set: (identifier: string, isOpen: boolean) => void;
  /** Opens these and folds all others. */
  only: (identifiers: readonly string[]) => void;
}

/**
 * The open charts of a device: kept in the address once somebody has opened or folded one. Before, none below a
 * dashboard, which shows what matters; else all of a few fields, or those with a role.
 */
export function useOpenFields(fields: readonly DeviceField[], hasDashboard: boolean): OpenFields {
  const { query } = usePlace();
  const said = query.get('open');
  const open = new Set(said === null ? usual(fields, hasDashboard) : said.split(','));
  const only = (identifiers: readonly string[]): void => {
    setParameters({ open: identifiers.length === 0 ? NONE : identifiers.join(',') });
  };
  return {
    has: (identifier) => open.has(identifier),
    set: (identifier, isOpen) => {
      if (isOpen) open.add(identifier);
      else open.delete(identifier);
      only(fields.map((field) => field.identifier).filter((one) => open.has(one)));
    },
    only,
  };
}

function usual(fields: readonly DeviceField[], hasDashboard: boolean): string[] {
  // A link may lead to the chart of a field.
  const linked = location.hash.startsWith('#field-') ? [location.hash.slice('#field-'.length)] : [];
  if (hasDashboard) return linked;
  const withRole = fields.filter(({ role }) => role !== null);
  const shown = fields.length <= FEW ? fields : withRole.length > 0 ? withRole : fields.slice(0, FIRST);
  return [...shown.map(({ identifier }) => identifier), ...linked];
}
