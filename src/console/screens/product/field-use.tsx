import { useEffect, useState } from 'preact/hooks';
import { request } from '../../api/request.ts';
import { useAction } from '../../api/use-action.ts';
import { useQuery } from '../../api/use-query.ts';
import { Note } from '../../parts/note.tsx';
import { CountValuesOfField, type ProductField, UseOfField } from './product.graphql.ts';
import { t } from '../../texts/texts.ts';
import { countText } from '../../parts/value-text.ts';

interface Counted {
  values: number;
  devices: number;
  ofDevices: number;
}

interface Widget {
  title?: string;
  kind: string;
  fields: readonly string[];
}

/** The things that go with a field, or that name it and would find nothing any more. */
export function FieldUse({ productId, field }: { productId: string; field: ProductField }) {
  const { id, identifier } = field;
  const [counted, setCounted] = useState<Counted | null>(null);
  const counting = useAction(async () => {
    const { updateField } = await request(CountValuesOfField, { id });
    setCounted(updateField.misfits);
  });
  useEffect(() => void counting.run(), [id]);
  const { data } = useQuery(UseOfField, { id: productId });
  const { widgets = [] } = (data?.product.dashboard ?? {}) as { widgets?: readonly Widget[] };
  const shown = widgets.filter(({ fields }) => fields.includes(identifier));
  const isDecoded = data?.product.decoder?.source.includes(identifier) === true;
  return (
    <>
      <p role="status" aria-busy={counting.busy}>
        {counted === null ? 'Every value recorded for it' : valuesText(counted)} will be deleted. This cannot be undone.
      </p>
      {shown.length > 0 && (
        <p>
          {shown.length === 1 ? 'A widget of the dashboard shows' : `${shown.length} widgets of the dashboard show`} it:{' '}
          {shown.map(({ title, kind }) => title ?? kind).join(', ')}.
        </p>
      )}
      {isDecoded && <p>The decoder names it: what it returns for {identifier} will be refused.</p>}
      {counting.error !== null && <Note>{counting.error}</Note>}
    </>
  );
}

function valuesText({ values, devices, ofDevices }: Counted): string {
  if (values === 0)
    return devices < ofDevices ? t('Every value recorded for it') : t('No value is recorded for it; nothing');
  const those = values === 1 ? '1 value' : t('{values} values', { values: countText(values) });
  return devices < ofDevices
    ? t('{those} of the first {devices} devices, and those of {ofDevices} more,', {
        those,
        devices,
        ofDevices: countText(ofDevices - devices),
      })
    : t('{those} of {text}', {
        those,
        text: devices === 1 ? '1 device' : `${countText(devices)} devices`,
      });
}
