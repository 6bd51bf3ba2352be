import { useState } from 'preact/hooks';
import { request } from '../../api/request.ts';
import type { FieldType } from '../../api/schema-types.ts';
import { useAction } from '../../api/use-action.ts';
import { proposedMeaning } from '../../fields/meanings.ts';
import { FIELD_TYPES, TYPE_WORDS } from '../../fields/type-words.ts';
import { Icon } from '../../parts/icon.tsx';
import { Note } from '../../parts/note.tsx';
import { workspaceId } from '../../session/session.ts';
import { StartDevice, StartedProducts, StartPlans, StartProduct } from './start.graphql.ts';
import { t } from '../../texts/texts.ts';

interface FieldRow {
  identifier: string;
  type: FieldType;
  unit: string;
}

/** Product and device in one prefilled form: pressing the button is enough. */
export function FirstDevice({ onCreated }: { onCreated: (deviceId: string) => void }) {
  const [product, setProduct] = useState(t('Room sensor'));
  const [device, setDevice] = useState(t('Hall'));
  const [rows, setRows] = useState<FieldRow[]>([
    { identifier: 'temperature', type: 'FLOAT', unit: '°C' },
    { identifier: 'humidity', type: 'FLOAT', unit: '%' },
  ]);
  /** Id of the made product: if the device then fails, the next try continues with it. */
  const [made, setMade] = useState<string | null>(null);
  const createProduct = async (): Promise<string> => {
    const workspace = workspaceId.get();
    const fields = rows
      .filter(({ identifier }) => identifier.trim() !== '')
      .map(({ identifier, type, unit }, index) => ({
        identifier: identifier.trim(),
        type,
        meaning: proposedMeaning({ identifier, name: null, unit, type }),
        ...(unit.trim() === '' ? {} : { unit: unit.trim() }),
        ...(index === 0 && type !== 'GEOLOCATION' ? { role: 'PRIMARY' as const } : {}),
      }));
    const begun = await begunProduct(product.trim(), fields, workspace);
    if (begun !== null) return begun;
    const input = { name: product, fields, ...(workspace === null ? {} : { workspaceId: workspace }) };
    const { createProduct: created } = await request(StartProduct, { input });
    setMade(created.id);
    return created.id;
  };
  const creating = useAction(async () => {
    const { plans } = await request(StartPlans, {});
    const productId = made ?? (await createProduct());
    // Prefer a plan for any number of devices.
    const plan = plans.find(({ deviceAllowance }) => deviceAllowance === null)?.slug;
    const { createDevices } = await request(StartDevice, {
      productId,
      devices: [{ name: device }],
      plan,
    });
    onCreated(createDevices[0]!.id);
  });
  const setRow = (index: number, change: Partial<FieldRow>): void =>
    setRows(rows.map((row, at) => (at === index ? { ...row, ...change } : row)));
  return (
    <form
      class="card padded stack"
      onSubmit={(event) => {
        event.preventDefault();
        void creating.run();
      }}
    >
      <label>
        Product
        <input
          value={product}
          required
          maxLength={200}
          disabled={made !== null}
          onInput={(event) => setProduct(event.currentTarget.value)}
        />
      </label>
      <fieldset class="fields" disabled={made !== null}>
        <legend>What it measures</legend>
        {rows.map((row, index) => (
          <div key={index} class="field-row">
            <input
              aria-label={`Identifier of field ${index + 1}`}
              placeholder="identifier"
              pattern="[A-Za-z0-9_\-]{1,64}"
              title="1 to 64 characters of A-Z a-z 0-9 _ -"
              value={row.identifier}
              onInput={(event) => setRow(index, { identifier: event.currentTarget.value })}
            />
            <select
              aria-label={`Type of field ${index + 1}`}
              value={row.type}
              onChange={(event) => setRow(index, { type: event.currentTarget.value as FieldType })}
            >
              {FIELD_TYPES.map((type) => (
                <option key={type} value={type}>
                  {TYPE_WORDS[type]}
                </option>
              ))}
            </select>
            <input
              aria-label={`Unit of field ${index + 1}`}
              placeholder="unit"
              maxLength={50}
              value={row.unit}
              onInput={(event) => setRow(index, { unit: event.currentTarget.value })}
            />
            <button
              type="button"
              class="quiet"
              aria-label={`Remove field ${index + 1}`}
              disabled={rows.length === 1}
              onClick={() => setRows(rows.filter((_, at) => at !== index))}
            >
              <Icon name="close" />
            </button>
          </div>
        ))}
        <button
          type="button"
          class="quiet"
          onClick={() => setRows([...rows, { identifier: '', type: 'FLOAT', unit: '' }])}
        >
          <Icon name="plus" /> Field
        </button>
      </fieldset>
      <label>
        Device
        <input value={device} required maxLength={200} onInput={(event) => setDevice(event.currentTarget.value)} />
      </label>
      {made !== null && creating.error !== null && (
        <p class="hint">The product is there; only its device is missing.</p>
      )}
      {creating.error !== null && <Note kind="error">{creating.error}</Note>}
      <div class="row">
        <button type="submit" class="primary" disabled={creating.busy}>
          {made === null ? 'Create product and device' : 'Create device'}
        </button>
      </div>
    </form>
  );
}

/** The id of a product that an abandoned try made: with that name, these fields, and no device. */
async function begunProduct(
  name: string,
  fields: readonly Pick<FieldRow, 'identifier' | 'type'>[],
  workspace: string | null,
): Promise<string | null> {
  const wanted = fieldsText(fields);
  const { products } = await request(StartedProducts, { name, workspaceId: workspace });
  const begun = products.edges.find(
    ({ node }) => node.name === name && node.devices.totalCount === 0 && fieldsText(node.fields) === wanted,
  );
  return begun?.node.id ?? null;
}

function fieldsText(fields: readonly Pick<FieldRow, 'identifier' | 'type'>[]): string {
  return fields
    .map(({ identifier, type }) => `${identifier} ${type}`)
    .sort()
    .join();
}
