import { useState } from 'preact/hooks';
import { FieldSheet } from '../fields/field-sheet.tsx';
import { href } from '../navigation/place.ts';
import { dateTimeText } from '../parts/time-text.ts';
import { toast } from '../parts/toasts.tsx';
import { may } from '../session/session.ts';
import type { RunParts } from './decoding.graphql.ts';
import './decoding.css';
import { counted, t } from '../texts/texts.ts';

type Entry = RunParts['entries'][number];

const MAX_SHOWN = 500;

interface EntriesTableProps {
  productId: string;
  entries: readonly Entry[];
  /** Word for an accepted entry: `stored`, or `would be stored`. */
  accepted: string;
  /** Called when a field was created from an entry. */
  onField: () => void;
}

/** The entries of a run with their outcomes; an unknown field can be added, with what is known of it filled in. */
export function EntriesTable({ productId, entries, accepted, onField }: EntriesTableProps) {
  const [added, setAdded] = useState<Entry['suggestedField']>(null);
  if (entries.length === 0) return <p class="hint">No entries.</p>;
  return (
    <>
      <div class="scroll-x entries-box" role="region" aria-label="Entries" tabIndex={0}>
        <table class="entries">
          <thead>
            <tr>
              <th>Device</th>
              <th>Field</th>
              <th>Value</th>
              <th>Outcome</th>
              <th>Time</th>
            </tr>
          </thead>
          <tbody>
            {entries.slice(0, MAX_SHOWN).map((entry) => (
              <tr key={entry.index}>
                <td>
                  {entry.matchedDevice === null ? (
                    (entry.device ?? <span class="muted">none</span>)
                  ) : (
                    <a href={href(`/devices/${entry.matchedDevice.id}`)}>{entry.matchedDevice.name}</a>
                  )}
                </td>
                <td class="mono">{entry.field ?? '–'}</td>
                <td class="mono">
                  {JSON.stringify(entry.value)} {entry.matchedField?.unit}
                </td>
                <td>
                  {entry.code === null ? (
                    <span>
                      <span class="chip good">{accepted}</span> {entry.notice !== null && <small>{entry.notice}</small>}
                    </span>
                  ) : (
                    <div class="refused">
                      <span>
                        <span class="chip bad">{entry.code}</span> <small>{entry.message}</small>
                      </span>
                      {entry.suggestedField !== null && may('CONFIGURE') && (
                        <button type="button" onClick={() => setAdded(entry.suggestedField)}>
                          Add field {entry.suggestedField.identifier}…
                        </button>
                      )}
                    </div>
                  )}
                </td>
                <td>{entry.timestamp === null ? '–' : dateTimeText(new Date(entry.timestamp))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {entries.length > MAX_SHOWN && (
        <p class="hint">
          {counted(entries.length, 'The first {shown} of {count} entry.', 'The first {shown} of {count} entries.', {
            shown: MAX_SHOWN,
          })}
        </p>
      )}
      {added !== null && (
        <FieldSheet
          productId={productId}
          field={null}
          suggested={added}
          onClose={() => setAdded(null)}
          onSaved={(identifier) => {
            toast(t('The field {identifier} is there.', { identifier }));
            onField();
          }}
        />
      )}
    </>
  );
}
