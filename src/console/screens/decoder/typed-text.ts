import { type Extension, type Transaction } from '@codemirror/state';
import { EditorView } from '@codemirror/view';

/**
 * Inserts typed text by the editor itself. Chromium would copy the colour of replaced text with a `style` attribute,
 * which the content security policy rejects and reports.
 */
export const typedText: Extension = EditorView.domEventHandlers({
  beforeinput: ({ inputType, data, isComposing, cancelable }, view) => {
    if (inputType !== 'insertText' || data === null || isComposing || view.composing || !cancelable) return false;
    const { state } = view;
    const { from, to } = state.selection.main;
    const insert = (): Transaction =>
      state.update(state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true });
    const isTaken = state.facet(EditorView.inputHandler).some((handler) => handler(view, from, to, data, insert));
    if (!isTaken) view.dispatch(insert());
    return true;
  },
});
