import { closeBrackets, closeBracketsKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { javascriptLanguage } from '@codemirror/lang-javascript';
import { bracketMatching, foldGutter, foldKeymap, indentOnInput } from '@codemirror/language';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { useEffect, useRef } from 'preact/hooks';
import { editorTheme } from './editor-theme.ts';
import { markMistake, mistakeMark, type SourceMistake } from './mistake-mark.ts';
import { typedText } from './typed-text.ts';
import { t } from '../../texts/texts.ts';

/** A line to show; a new object shows it again. */
export interface SourcePlace {
  line: number;
}

interface SourceEditorProps {
  /** The first text; a new object replaces the present text. Typing is reported by `onChange` only. */
  given: { source: string };
  mistake: SourceMistake | null;
  place: SourcePlace | null;
  onChange: (source: string) => void;
  /** Called by Ctrl S or Cmd S. */
  onSave: () => void;
}

/**
 * An editor for JavaScript. It lives in a shadow root, where CodeMirror puts its rules into `adoptedStyleSheets`: the
 * content security policy rejects a `<style>` in the page.
 */
export function SourceEditor(props: SourceEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const { given, mistake, place } = props;
  useEffect(() => {
    const root = host.current!.shadowRoot ?? host.current!.attachShadow({ mode: 'open' });
    const made = new EditorView({ parent: root, root, state: stateOf(latest) });
    editor.current = made;
    return () => made.destroy();
  }, []);
  useEffect(() => {
    const made = editor.current!;
    if (made.state.doc.toString() === given.source) return;
    made.dispatch({ changes: { from: 0, to: made.state.doc.length, insert: given.source } });
  }, [given]);
  const said = mistake === null ? '' : `${mistake.line}:${mistake.column}:${mistake.message}`;
  useEffect(() => {
    editor.current!.dispatch({ effects: markMistake.of(mistake) });
  }, [said]);
  useEffect(() => {
    if (place === null) return;
    const made = editor.current!;
    const { from, to } = made.state.doc.line(Math.min(place.line, made.state.doc.lines));
    made.dispatch({
      selection: { anchor: from, head: to },
      effects: EditorView.scrollIntoView(from, { y: 'center' }),
    });
    made.focus();
  }, [place]);
  return <div ref={host} class="source-editor" />;
}

function stateOf(latest: { current: SourceEditorProps }): EditorState {
  const save = {
    key: 'Mod-s',
    preventDefault: true,
    run: () => {
      latest.current.onSave();
      return true;
    },
  };
  return EditorState.create({
    doc: latest.current.given.source,
    extensions: [
      lineNumbers(),
      foldGutter(),
      highlightSpecialChars(),
      history(),
      drawSelection(),
      indentOnInput(),
      bracketMatching(),
      closeBrackets(),
      highlightActiveLine(),
      highlightActiveLineGutter(),
      highlightSelectionMatches(),
      javascriptLanguage,
      typedText,
      mistakeMark,
      editorTheme,
      EditorView.contentAttributes.of({ 'aria-label': t('Source of the decoder'), tabindex: '0' }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) latest.current.onChange(update.state.doc.toString());
      }),
      keymap.of([
        save,
        ...closeBracketsKeymap,
        ...defaultKeymap,
        ...searchKeymap,
        ...historyKeymap,
        ...foldKeymap,
        indentWithTab,
      ]),
    ],
  });
}
