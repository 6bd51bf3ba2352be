import { useState } from 'preact/hooks';
import { useStore } from '../../api/store.ts';
import { useScopes } from '../../dashboard/use-scopes.ts';
import { WidgetSheet } from '../../dashboard/widget-sheet.tsx';
import type { Source, Widget } from '../../dashboard/widgets.ts';
import { workspaceId } from '../../session/session.ts';
import { SourcePicker } from './source-picker.tsx';

interface SourcedWidgetSheetProps {
  /** The widget to change; null: a new one. */
  widget: Widget | null;
  widgets: readonly Widget[];
  onClose: () => void;
  onDone: (widget: Widget) => void;
}

/** The form of a widget that has devices of its own: of the last widget, until others are chosen. */
export function SourcedWidgetSheet({ widget, widgets, onClose, onDone }: SourcedWidgetSheetProps) {
  const workspace = useStore(workspaceId);
  const before = widget?.source ?? widgets.findLast(({ source }) => source !== undefined)?.source ?? null;
  const [chosen, setChosen] = useState<Source | null>(before);
  const scopes = useScopes(workspace, [chosen ?? undefined]);
  const scope = scopes.of(chosen ?? undefined);
  return (
    <WidgetSheet
      widget={widget}
      widgets={widgets}
      fields={scope?.fields ?? []}
      source={{
        chosen,
        picker: <SourcePicker chosen={chosen} scope={scope} error={scopes.error} onChange={setChosen} />,
      }}
      onClose={onClose}
      onDone={onDone}
    />
  );
}
