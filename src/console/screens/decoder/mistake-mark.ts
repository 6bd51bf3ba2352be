import { type EditorState, StateEffect, StateField } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView } from '@codemirror/view';

/** A mistake in the source; line and column from 1, null if unknown. */
export interface SourceMistake {
  message: string;
  line: number | null;
  column: number | null;
}

/** Underlines this place only; null: none. */
export const markMistake = StateEffect.define<SourceMistake | null>();

/** The underlined place of an editor; it moves along with the text. */
export const mistakeMark = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (marks, { changes, effects, state }) => {
    const asked = effects.find((effect) => effect.is(markMistake));
    return asked === undefined ? marks.map(changes) : marksOf(state, asked.value as SourceMistake | null);
  },
  provide: (field) => EditorView.decorations.from(field),
});

function marksOf(state: EditorState, mistake: SourceMistake | null): DecorationSet {
  const range = mistake === null ? null : rangeOf(state, mistake);
  if (range === null || range.from === range.to) return Decoration.none;
  const mark = Decoration.mark({ class: 'cm-mistake', attributes: { title: mistake!.message } });
  return Decoration.set([mark.range(range.from, range.to)]);
}

/** The range from the place to the end of its word; without a column the whole line. */
function rangeOf(state: EditorState, { line, column }: SourceMistake): { from: number; to: number } | null {
  if (line === null || line > state.doc.lines) return null;
  const { from, to, text } = state.doc.line(line);
  if (column === null) return { from: from + (text.length - text.trimStart().length), to };
  const start = Math.min(from + column - 1, Math.max(from, to - 1));
  const word = /^[\w$]+/.exec(text.slice(start - from))?.[0].length ?? 1;
  return { from: start, to: Math.min(to, start + word) };
}
