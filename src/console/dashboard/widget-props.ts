import type { DashboardLive } from './use-pushed-values.ts';
import type { DashboardField, Widget, WidgetScope } from './widgets.ts';

/** What each kind of widget is drawn from. */
export interface WidgetProps {
  widget: Widget;
  devices: WidgetScope['devices'];
  /** The fields of the widget that its devices may have, at least one. */
  fields: readonly DashboardField[];
  live: DashboardLive;
  /** Height inside the widget, in pixels. */
  height: number;
}
