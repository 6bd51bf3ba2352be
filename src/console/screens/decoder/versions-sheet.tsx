import { useState } from 'preact/hooks';
import { request } from '../../api/request.ts';
import { useAction } from '../../api/use-action.ts';
import { useQuery } from '../../api/use-query.ts';
import { TextDifference } from '../../decoding/text-difference.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Note } from '../../parts/note.tsx';
import { dateTimeText } from '../../parts/time-text.ts';
import { toast } from '../../parts/toasts.tsx';
import { ActivateDecoder, Versions, VersionSource } from './decoder.graphql.ts';
import { t } from '../../texts/texts.ts';

interface VersionsSheetProps {
  productId: string;
  /** The source in the editor. */
  source: string;
  onClose: () => void;
  /** Called when a version became the active one. */
  onActivated: () => void;
  onLoad: (source: string) => void;
}

/** The saved versions with author, time and note, their difference to the editor, and the way back to one. */
export function VersionsSheet({ productId, source, onClose, onActivated, onLoad }: VersionsSheetProps) {
  const [before, setBefore] = useState<number | null>(null);
  const [chosen, setChosen] = useState<number | null>(null);
  const { data, error, refetch } = useQuery(Versions, { id: productId, before });
  const old = useQuery(VersionSource, chosen === null ? null : { id: productId, before: chosen + 1 });
  const activating = useAction(async (version: number) => {
    await request(ActivateDecoder, { productId, version });
    toast(t('Version {version} is active.', { version }));
    onActivated();
    await refetch();
  });
  const versions = data?.product.decoderVersions ?? [];
  const shown = old.fresh ? old.data?.product.decoderVersions[0] : undefined;
  return (
    <Dialog title="Versions" onClose={onClose}>
      {error !== null && <Note kind="error">{error.message}</Note>}
      {activating.error !== null && <Note kind="error">{activating.error}</Note>}
      {data !== null && versions.length === 0 && <Note>No version was saved yet.</Note>}
      <ol class="versions">
        {versions.map(({ version, createdAt, author, note, active }) => (
          <li key={version}>
            <div class="row">
              <strong>Version {version}</strong>
              {active && <span class="chip good">active</span>}
              <small class="grow">
                {dateTimeText(new Date(createdAt))}
                {author !== null && ` · ${author}`}
              </small>
              <button
                type="button"
                class="quiet"
                aria-expanded={chosen === version}
                onClick={() => setChosen(chosen === version ? null : version)}
              >
                Difference
              </button>
              {!active && (
                <button type="button" disabled={activating.busy} onClick={() => void activating.run(version)}>
                  Activate
                </button>
              )}
            </div>
            {note !== null && <p>{note}</p>}
            {chosen === version && shown?.version === version && (
              <div class="stack">
                <TextDifference label={`Version ${version} and the editor`} before={shown.source} after={source} />
                <div class="row">
                  <small class="grow">− version {version}, + what stands in the editor</small>
                  <button type="button" onClick={() => onLoad(shown.source)}>
                    Load into the editor
                  </button>
                </div>
              </div>
            )}
          </li>
        ))}
      </ol>
      {(before !== null || (versions.at(-1)?.version ?? 1) > 1) && versions.length > 0 && (
        <div class="row">
          {before !== null && (
            <button type="button" onClick={() => setBefore(null)}>
              Newest
            </button>
          )}
          {(versions.at(-1)?.version ?? 1) > 1 && (
            <button type="button" onClick={() => setBefore(versions.at(-1)?.version ?? null)}>
              Older
            </button>
          )}
        </div>
      )}
      <div class="actions">
        <button type="button" onClick={onClose}>
          Done
        </button>
      </div>
    </Dialog>
  );
}
