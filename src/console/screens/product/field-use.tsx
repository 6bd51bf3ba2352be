import { useEffect, useState } from 'preact/hooks';
import { request } from '../../api/request.ts';
import { useAction } from '../../api/use-action.ts';
import { useQuery } from '../../api/use-query.ts';
import { Note } from '../../parts/note.tsx';
import { CountValuesOfField, type ProductField, UseOfField } from './product.graphql.ts';
import { counted, t } from '../../texts/texts.ts';
import { countText } from '../../texts/count-text.ts';

interface Counted {
  values: number;
  devices: number;
  ofDevices: number;
}

const EVERY = t('Every value recorded for it will be deleted.');

interface Widget {
  title?: string;
  kind: string;
  fields: readonly string[];
}

/** The things that go with a field, or that name it and would find nothing any more. */
export function FieldUse({ productId, field }: { productId: string; field: ProductField }) {
  const { id, identifier } = field;
  const [found, setFound] = useState<Counted | null>(null);
  const counting = useAction(async () => {
    const { updateField } = await request(CountValuesOfField, { id });
    setFound(updateField.misfits);
  });
  useEffect(() => void counting.run(), [id]);
  const { data } = useQuery(UseOfField, { id: productId });
  const { widgets = [] } = (data?.product.dashboard ?? {}) as { widgets?: readonly Widget[] };
  const shown = widgets.filter(({ fields }) => fields.includes(identifier));
  const isDecoded = data?.product.decoder?.source.includes(identifier) === true;
  return (
    <>
      <p role="status" aria-busy={counting.busy}>
        {found === null ? EVERY : valuesText(found)} This cannot be undone.
      </p>
      {shown.length > 0 && (
        <p>
          {counted(shown.length, 'A widget of the dashboard shows it:', '{count} widgets of the dashboard show it:')}{' '}
          {shown.map(({ title, kind }) => title ?? kind).join(', ')}.
        </p>
      )}
      {isDecoded && <p>The decoder names it: what it returns for {identifier} will be refused.</p>}
      {counting.error !== null && <Note>{counting.error}</Note>}
    </>
  );
}

function valuesText({ values, devices, ofDevices }: Counted): string {
  if (values === 0) return devices < ofDevices ? EVERY : t('No value is recorded for it; nothing will be deleted.');
  const those = counted(values, '{count} value', '{count} values');
  return devices < ofDevices
    ? counted(
        devices,
        '{those} of the first device, and those of {others} more, will be deleted.',
        '{those} of the first {count} devices, and those of {others} more, will be deleted.',
        { those, others: countText(ofDevices - devices) },
      )
    : counted(devices, '{those} of {count} device will be deleted.', '{those} of {count} devices will be deleted.', {
        those,
      });
}
