import { useState } from 'preact/hooks';
import { ApiError } from '../../api/api-error.ts';
import type { DecoderRequestInput } from '../../api/schema-types.ts';
import { request } from '../../api/request.ts';
import { useAction } from '../../api/use-action.ts';
import { TestDecoder } from '../../decoding/decoding.graphql.ts';
import { TextDifference } from '../../decoding/text-difference.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { textsOf } from '../../parts/form-texts.ts';
import { Note } from '../../parts/note.tsx';
import { toast } from '../../parts/toasts.tsx';
import { Examples, SaveDecoder } from './decoder.graphql.ts';
import { expectedText } from './expected-entries.ts';
import { t } from '../../texts/texts.ts';

/** A reason that saving failed and `force` overrides. */
interface Stopped {
  kind: 'EXAMPLE' | 'NO_DECODER_FUNCTION';
  difference: { name: string; expected: string; came: string } | null;
}

interface SaveDecoderSheetProps {
  productId: string;
  source: string;
  onClose: () => void;
  onSaved: () => void;
}

/** Saves the source as a new version, active at once. A failing example stops that, unless the user insists. */
export function SaveDecoderSheet({ productId, source, onClose, onSaved }: SaveDecoderSheetProps) {
  const [stopped, setStopped] = useState<Stopped | null>(null);
  const differenceOf = async (name: unknown): Promise<Stopped['difference']> => {
    // Fetch again: the example may just have changed.
    const { product } = await request(Examples, { id: productId });
    const example = product.decoderExamples.find((one) => one.name === name);
    if (example === undefined) return null;
    const given = { productId, source, request: example.request as DecoderRequestInput };
    const { testDecoder: run } = await request(TestDecoder, given);
    const came = run.error === null ? expectedText(run.entries) : `${run.error.kind}: ${run.error.message}`;
    return { name: example.name, expected: expectedText(example.expected as object[]), came };
  };
  const saving = useAction(async (note: string, force: boolean) => {
    setStopped(null);
    try {
      const given = { productId, source, note: note === '' ? null : note, force };
      const { saveDecoder } = await request(SaveDecoder, given);
      toast(t('Version {version} is active.', { version: saveDecoder.version }));
      onSaved();
      onClose();
    } catch (error) {
      const kind = error instanceof ApiError ? error.details['kind'] : undefined;
      if (kind === 'EXAMPLE' || kind === 'NO_DECODER_FUNCTION')
        setStopped({ kind, difference: await differenceOf((error as ApiError).details['example']) });
      throw error;
    }
  });
  return (
    <Dialog title="Save as a new version" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          const note = textsOf(event.currentTarget)('note').trim();
          void saving.run(note, event.submitter?.getAttribute('value') === 'force');
        }}
      >
        <label>
          Note
          <textarea name="note" rows={2} placeholder="What changed, and why" autofocus />
        </label>
        {saving.error !== null && <Note kind="error">{saving.error}</Note>}
        {stopped?.difference != null && (
          <>
            <h3>Example “{stopped.difference.name}”: expected (−), and what comes now (+)</h3>
            <TextDifference
              label="Expected and what comes now"
              before={stopped.difference.expected}
              after={stopped.difference.came}
            />
          </>
        )}
        <div class="actions">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          {stopped !== null && (
            <button type="submit" class="danger" value="force" disabled={saving.busy}>
              Save anyway, {stopped.kind === 'EXAMPLE' ? 'the example fails' : 'nothing can be called'}
            </button>
          )}
          <button type="submit" class="primary" disabled={saving.busy}>
            {saving.busy ? 'Saving…' : 'Save and activate'}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
