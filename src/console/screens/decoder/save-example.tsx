import { request } from '../../api/request.ts';
import type { DecoderRequestInput } from '../../api/schema-types.ts';
import { useAction } from '../../api/use-action.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { FormEnd } from '../../parts/form-end.tsx';
import { onSubmit, textsOf } from '../../parts/form-texts.ts';
import { toast } from '../../parts/toasts.tsx';
import { AddExample } from './decoder.graphql.ts';
import { t } from '../../texts/texts.ts';

interface SaveExampleProps {
  productId: string;
  example: DecoderRequestInput;
  /** The entries of the shown run, as text. */
  expected: string;
  onClose: () => void;
  onSaved: () => void;
}

/** Stores the input with its entries, which later versions of the decoder must produce. */
export function SaveExample({ productId, example, expected, onClose, onSaved }: SaveExampleProps) {
  const saving = useAction(async (form: HTMLFormElement) => {
    const text = textsOf(form);
    const name = text('name').trim();
    await request(AddExample, { productId, name, request: example, expected: readJson(text('expected')) });
    toast(t('The example “{name}” runs on every save.', { name }));
    onSaved();
    onClose();
  });
  return (
    <Dialog title="Save as example" onClose={onClose}>
      <form class="stack" onSubmit={onSubmit(saving.run)}>
        <label>
          Name
          <input name="name" required maxLength={200} autofocus />
        </label>
        <label>
          Expected entries
          <textarea name="expected" class="mono" rows={8} spellcheck={false} defaultValue={expected} required />
          <small>In order. What an entry leaves out, such as a timestamp, may be anything.</small>
        </label>
        <FormEnd action={saving} onCancel={onClose}>
          Save example
        </FormEnd>
      </form>
    </Dialog>
  );
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new Error(t('The expected entries are no JSON: {message}.', { message: (error as Error).message }), {
      cause: error,
    });
  }
}
