import type { Severity } from '../api/schema-types.ts';
import type { ColorName } from '../chart/chart-colors.ts';
import { t } from '../texts/texts.ts';

/** Severities in words, mildest first. */
export const SEVERITIES: Record<Severity, string> = { INFO: t('Info'), WARNING: t('Warning'), CRITICAL: t('Critical') };

/** The colour of a severity in charts. */
export const SEVERITY_COLORS: Record<Severity, ColorName> = { INFO: 'series-6', WARNING: 'warn', CRITICAL: 'bad' };

/** A severity in its colour. */
export function SeverityChip({ severity }: { severity: Severity }) {
  return (
    <span class="chip" data-severity={severity}>
      {SEVERITIES[severity]}
    </span>
  );
}
