import { type TargetedEvent } from 'preact';
import { useId, useState } from 'preact/hooks';
import { request } from '../../api/request.ts';
import { useAction } from '../../api/use-action.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { FormEnd } from '../../parts/form-end.tsx';
import { onSubmit, textsOf } from '../../parts/form-texts.ts';
import { Note } from '../../parts/note.tsx';
import type { OnExisting } from '../../api/schema-types.ts';
import { ImportDevices as ImportFile } from './devices.graphql.ts';
import { textOfFile } from './file-text.ts';
import { t } from '../../texts/texts.ts';
import { countText } from '../../texts/count-text.ts';

/** Refused lines shown. */
const SHOWN = 100;
const EXAMPLE = 'serialNumber,name,tags,location\n70B3D57ED0001234,Pump 1,"north,new",Hall 2';

/** The answer of the import, or of its dry run. */
type Outcome = Awaited<ReturnType<typeof importFile>>;

/** A file to import, as the form has it. */
interface Given {
  productId: string;
  text: string;
  onExisting: OnExisting;
  plan: string;
}

async function importFile(given: Given, dryRun: boolean) {
  return (await request(ImportFile, { ...given, dryRun })).importDevices;
}

interface ImportDevicesProps {
  products: readonly { id: string; name: string }[];
  plans: readonly { slug: string; name: string }[];
  /** The preselected product. */
  productId: string | null;
  /** Called when devices were made or changed. */
  onDone: () => void;
  onClose: () => void;
}

/** Imports devices from a pasted or dropped file: a form, then what the file would do, then what it did. */
export function ImportDevices({ products, plans, productId, onDone, onClose }: ImportDevicesProps) {
  const [given, setGiven] = useState<Given>({
    productId: productId ?? products[0]?.id ?? '',
    text: '',
    onExisting: 'KEEP',
    plan: plans.at(-1)?.slug ?? '',
  });
  const [preview, setPreview] = useState<Outcome | null>(null);
  const [done, setDone] = useState<Outcome | null>(null);
  const previewing = useAction(async (form: HTMLFormElement) => {
    const text = textsOf(form);
    const asked: Given = {
      productId: text('product'),
      text: text('text'),
      onExisting: text('onExisting') as OnExisting,
      plan: text('plan'),
    };
    setGiven(asked);
    setPreview(await importFile(asked, true));
  });
  const importing = useAction(async () => {
    setDone(await importFile(given, false));
    onDone();
  });
  if (done !== null)
    return (
      <Dialog title="Devices imported" onClose={onClose}>
        <OutcomeOf outcome={done} isDone />
        <div class="actions">
          <button type="button" class="primary" onClick={onClose}>
            Done
          </button>
        </div>
      </Dialog>
    );
  if (preview !== null)
    return (
      <Dialog title="Import devices" onClose={onClose}>
        <form class="stack" onSubmit={onSubmit(importing.run)}>
          <OutcomeOf outcome={preview} />
          {preview.created + preview.updated === 0 && <Note>Nothing of this file would make or change a device.</Note>}
          <FormEnd
            action={{ ...importing, busy: importing.busy || preview.created + preview.updated === 0 }}
            onCancel={() => setPreview(null)}
            cancel="Back"
          >
            Import
          </FormEnd>
        </form>
      </Dialog>
    );
  return (
    <Dialog title="Import devices" onClose={onClose}>
      {products.length === 0 ? (
        <Note>Devices belong to a product, and there is none yet.</Note>
      ) : (
        <form class="stack" onSubmit={onSubmit(previewing.run)}>
          <label>
            Product
            <select name="product">
              {products.map(({ id, name }) => (
                <option key={id} value={id} selected={id === given.productId}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          <FileField text={given.text} />
          <label>
            Devices that are there already
            <select name="onExisting">
              {CHOICES.map(({ value, words }) => (
                <option key={value} value={value} selected={value === given.onExisting}>
                  {words}
                </option>
              ))}
            </select>
          </label>
          <label>
            Plan of new devices, unless the line names one
            <select name="plan">
              {plans.map(({ slug, name }) => (
                <option key={slug} value={slug} selected={slug === given.plan}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          <FormEnd action={previewing} onCancel={onClose}>
            Preview
          </FormEnd>
        </form>
      )}
    </Dialog>
  );
}

const CHOICES: readonly { value: OnExisting; words: string }[] = [
  { value: 'KEEP', words: t('stay as they are') },
  { value: 'UPDATE', words: t('are changed to what the line gives') },
  { value: 'FAIL', words: t('are refused') },
];

/** A text that is typed, pasted, chosen as a file or dropped as one. */
function FileField({ text: first }: { text: string }) {
  const id = useId();
  const [text, setText] = useState(first);
  const take = async (file: File | null | undefined): Promise<void> => {
    if (file != null) setText(await textOfFile(file));
  };
  const onDrop = (event: TargetedEvent<HTMLTextAreaElement, DragEvent>): void => {
    const file = event.dataTransfer?.files[0];
    if (file === undefined) return;
    event.preventDefault();
    void take(file);
  };
  return (
    <>
      <label>
        CSV or NDJSON
        <textarea
          name="text"
          class="mono"
          aria-describedby={id}
          rows={8}
          required
          spellcheck={false}
          placeholder={EXAMPLE}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onDragOver={(event) => event.preventDefault()}
          onDrop={onDrop}
        />
      </label>
      <small id={id}>
        Paste it, drop a file, or choose one. Columns: serialNumber, name, tags, location, plan,
        configuration.&lt;field&gt;, metadata.&lt;key&gt;.
      </small>
      <label>
        File
        <input
          type="file"
          accept=".csv,.tsv,.txt,.ndjson,.jsonl,text/csv"
          onChange={(event) => void take(event.currentTarget.files?.[0])}
        />
      </label>
    </>
  );
}

/** The counts of an import or of its dry run, and the lines that are refused. */
function OutcomeOf({ outcome, isDone = false }: { outcome: Outcome; isDone?: boolean }) {
  const { created, updated, kept, refusedLines, refused } = outcome;
  const counts = [
    { text: t('New'), count: created },
    { text: t('Changed'), count: updated },
    { text: t('As they are'), count: kept },
    { text: t('Refused'), count: refusedLines },
  ];
  return (
    <>
      <dl class="tally" aria-label={isDone ? 'What the import did' : 'What the import would do'}>
        {counts.map(({ text, count }) => (
          <div key={text}>
            <dt>{text}</dt>
            <dd>{countText(count)}</dd>
          </div>
        ))}
      </dl>
      {refused.length > 0 && (
        <div class="scroll-x refused-lines" role="region" aria-label="Refused lines" tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th>Line</th>
                <th>Serial number</th>
                <th>Reason</th>
              </tr>
            </thead>
            <tbody>
              {refused.slice(0, SHOWN).map(({ line, serialNumber, message }) => (
                <tr key={line}>
                  <td class="number">{line}</td>
                  <td>{serialNumber}</td>
                  <td>{message}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {refusedLines > SHOWN && <p>… and {countText(refusedLines - SHOWN)} more</p>}
        </div>
      )}
    </>
  );
}
