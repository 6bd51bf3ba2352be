/** The parts of a document's text beside its tokens. */
interface DocumentText {
  /** Blanks, line ends, commas and comments, in characters; also the line ends in block strings, which are cut apart there. */
  ignored: number;
  lines: number;
}

const [TAB, LINE_FEED, RETURN, BLANK, QUOTE, HASH, COMMA, BACKSLASH] = [9, 10, 13, 32, 34, 35, 44, 92];
const MARK = 0xfe_ff;

/** Looks through the text as graphql-js's lexer does, no further than `most` ignored characters. */
export function textOf(query: string, most: number): DocumentText {
  const text: DocumentText = { ignored: 0, lines: 1 };
  for (let at = 0; at < query.length && text.ignored <= most; at += 1) {
    const code = query.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(query, at, text, most);
    else if (code === HASH) {
      const from = at;
      while (at + 1 < query.length && !isLineEnd(query.charCodeAt(at + 1))) at += 1;
      text.ignored += at + 1 - from;
    } else if (isLineEnd(code)) lineEnd(text);
    else if (code === BLANK || code === COMMA || code === TAB || code === MARK) text.ignored += 1;
  }
  return text;
}

/** Position of the last character of the string that begins there. */
function stringEnd(query: string, from: number, text: DocumentText, most: number): number {
  const isBlock = query.startsWith('"""', from);
  let at = from + (isBlock ? 3 : 1);
  for (; at < query.length && text.ignored <= most; at += 1) {
    const code = query.charCodeAt(at);
    if (isBlock) {
      if (isLineEnd(code)) lineEnd(text);
      else if (code === BACKSLASH && query.startsWith('"""', at + 1)) at += 3;
      else if (code === QUOTE && query.startsWith('"""', at)) return at + 2;
    } else if (code === BACKSLASH) at += 1;
    // A line end ends it as well: a mistake that the lexer tells.
    else if (code === QUOTE || isLineEnd(code)) return code === QUOTE ? at : at - 1;
  }
  return at;
}

function lineEnd(text: DocumentText): void {
  text.ignored += 1;
  text.lines += 1;
}

function isLineEnd(code: number): boolean {
  return code === LINE_FEED || code === RETURN;
}
