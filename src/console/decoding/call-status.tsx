import type { CallStatus } from '../api/schema-types.ts';
import './decoding.css';
import { t } from '../texts/texts.ts';

/** Outcomes of calls, with names and rating. */
export const CALL_STATUSES: readonly { status: CallStatus; text: string; kind: 'good' | 'warn' | 'bad' }[] = [
  { status: 'STORED', text: t('Stored'), kind: 'good' },
  { status: 'PARTLY_STORED', text: t('Partly stored'), kind: 'warn' },
  { status: 'NOTHING_STORED', text: t('Nothing stored'), kind: 'warn' },
  { status: 'DECODER_FAILED', text: t('Decoder failed'), kind: 'bad' },
  { status: 'NO_DECODER', text: t('No decoder'), kind: 'bad' },
];

/** The name of an outcome. */
export function statusText(status: CallStatus): string {
  return CALL_STATUSES.find((one) => one.status === status)!.text;
}

/** An outcome as a small mark. */
export function StatusChip({ status }: { status: CallStatus }) {
  return <span class={`chip ${CALL_STATUSES.find((one) => one.status === status)!.kind}`}>{statusText(status)}</span>;
}
