import { type Extension, type Transaction } from '@codemirror/state';
import { EditorView } from '@codemirror/view';

/**
 * What is typed is put in by the editor. Left to itself, Chromium gives text that takes the place of coloured text that
 * colour, by a `style` attribute, which the content security policy refuses and tells of.
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
