import { useState } from 'preact/hooks';
import { request } from '../../api/request.ts';
import { useAction } from '../../api/use-action.ts';
import type { SourceScope } from '../../dashboard/use-scopes.ts';
import type { Source, Widget } from '../../dashboard/widgets.ts';
import { href } from '../../navigation/place.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { FormEnd } from '../../parts/form-end.tsx';
import { onSubmit, textsOf } from '../../parts/form-texts.ts';
import { workspaceId } from '../../session/session.ts';
import { EndPicker, endIn } from '../access/end-picker.tsx';
import { MakeDashboardLink } from './dashboards.graphql.ts';
import { t } from '../../texts/texts.ts';
import { ShownOnce } from '../../parts/shown-once.tsx';

interface NewDashboardLinkProps {
  id: string;
  name: string;
  widgets: readonly Widget[];
  scopeOf: (source: Source | undefined) => SourceScope | null;
  onClose: () => void;
}

/** Makes a public link of a dashboard: a token that sees the fields and devices of its widgets, and nothing else. */
export function NewDashboardLink({ id, name, widgets, scopeOf, onClose }: NewDashboardLinkProps) {
  const [link, setLink] = useState<string | null>(null);
  const fields = [...new Set(widgets.flatMap((widget) => widget.fields))];
  const making = useAction(async (form: HTMLFormElement) => {
    const text = textsOf(form);
    const limit = limitOf(widgets, scopeOf);
    if (limit === null) throw new Error(t('The dashboard shows no device yet: add a widget first.'));
    const { createToken } = await request(MakeDashboardLink, {
      input: {
        kind: 'INDIVIDUAL',
        name: text('name').trim(),
        workspaceId: workspaceId.get(),
        scopes: ['READ'],
        ...limit,
        fields,
        ...endIn(text),
      },
    });
    setLink(`${location.origin}${href('/share', { dashboard: id })}#${createToken.secret}`);
  });
  if (link !== null)
    return (
      <ShownOnce title="The public link" label="the link" text={link} onClose={onClose}>
        <p>
          It is shown this once. Whoever has it sees this dashboard live, without signing in, until you revoke it in the
          list of tokens.
        </p>
      </ShownOnce>
    );
  return (
    <Dialog title="New public link" onClose={onClose}>
      <form class="stack" onSubmit={onSubmit(making.run)}>
        <p>
          It shows the devices and fields that are on the dashboard now: {fields.join(', ') || 'none'}. Once the
          dashboard shows other devices, the link needs to be made anew.
        </p>
        <label>
          Name
          <input name="name" required maxLength={200} autofocus defaultValue={name} />
        </label>
        <EndPicker />
        <FormEnd action={making} onCancel={onClose}>
          Make link
        </FormEnd>
      </form>
    </Dialog>
  );
}

/** The products and devices that the widgets show at present; null: none. */
function limitOf(
  widgets: readonly Widget[],
  scopeOf: NewDashboardLinkProps['scopeOf'],
): { productIds?: string[]; deviceIds?: string[] } | null {
  const [productIds, deviceIds] = [new Set<string>(), new Set<string>()];
  for (const { source } of widgets)
    if (source?.productId !== undefined) productIds.add(source.productId);
    else for (const { id } of scopeOf(source)?.devices ?? []) deviceIds.add(id);
  if (productIds.size + deviceIds.size === 0) return null;
  return {
    ...(productIds.size === 0 ? {} : { productIds: [...productIds] }),
    ...(deviceIds.size === 0 ? {} : { deviceIds: [...deviceIds] }),
  };
}
