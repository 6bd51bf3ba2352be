import { type ESTree, parseSync } from 'vite';

/** A source of the console with its look-ups, by `__t` and `__parts`, and the texts that it has, in English. */
export interface TranslatedSource {
  /** null: nothing is looked up. */
  code: string | null;
  keys: ReadonlySet<string>;
  /** The keys of those that count things, and have a form for each plural category of a language. */
  counted: ReadonlySet<string>;
}

/** Attributes that are read by people. */
const TEXT_ATTRIBUTES = new Set(
  'aria-label label title placeholder alt about legend accepted endName cancel hint deed empty heading'.split(' '),
);
/** The same of components alone, by their names. */
const TEXT_OF_COMPONENTS: Readonly<Record<string, ReadonlySet<string>>> = {
  name: new Set(['Fact', 'Figure', 'Mark', 'SortHead', 'Time']),
  button: new Set(['Menu']),
};
/** Elements whose text is the same in every language. */
const SAME_EVERYWHERE = new Set(['code', 'pre', 'kbd', 'style', 'script']);
/** Elements that belong to the sentence that they begin or end. */
const WITHIN_A_SENTENCE = new Set(['strong', 'em', 'b', 'code', 'kbd']);
/** Look-ups by the number of things, after which come the text for one, and that for many. */
const COUNTED = new Set(['counted', 'countedParts']);
const HAS_LETTERS = /\p{L}{2}/u;

interface Edit {
  start: number;
  end: number;
  text: string;
}
type Node = ESTree.Node;
type Child = ESTree.JSXChild;

/**
 * Puts a look-up in place of every text of JSX: a sentence, with what stands in it as slots (`Sign out`, `{count} calls`),
 * the strings of expressions within, and attributes that people read. Texts elsewhere are written as `t('…')`, and those
 * about a number of things as `counted(number, '…', '…')`; of these only the slots are looked at. Sources stay plain English; a catalogue is by these sentences.
 */
export function translatedSource(path: string, source: string): TranslatedSource {
  const translating = new Translating(source);
  const { program, errors } = parseSync(path, source);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]!.message}`);
  const edits = translating.edits(program);
  const code = edits.length === 0 ? null : translating.applied(0, source.length, edits);
  return { code, keys: translating.keys, counted: translating.counted };
}

class Translating {
  readonly keys = new Set<string>();
  readonly counted = new Set<string>();
  readonly #source: string;

  constructor(source: string) {
    this.#source = source;
  }

  applied(start: number, end: number, edits: readonly Edit[]): string {
    let text = '';
    let at = start;
    for (const edit of edits) {
      text += this.#source.slice(at, edit.start) + edit.text;
      at = edit.end;
    }
    return text + this.#source.slice(at, end);
  }

  /** Of a node and all within it, in order. */
  edits(node: Node): Edit[] {
    switch (node.type) {
      case 'JSXElement':
        return [...this.edits(node.openingElement), ...this.#ofChildren(node)];
      case 'JSXFragment':
        return this.#ofChildren(node);
      case 'JSXOpeningElement':
        return this.#ofOpening(node);
      case 'CallExpression':
        return node.callee.type === 'Identifier' ? this.#ofCall(node, node.callee.name) : this.#within(node);
      default:
        return this.#within(node);
    }
  }

  #within(node: Node): Edit[] {
    return childrenOf(node).flatMap((child) => this.edits(child));
  }

  #ofCall(node: ESTree.CallExpression, name: string): Edit[] {
    if (name !== 't' && !COUNTED.has(name)) return this.#within(node);
    const [count, one, many] = node.arguments;
    if (name === 't') this.keys.add(this.#literal(name, count));
    else {
      this.#literal(name, one);
      this.keys.add(this.#literal(name, many));
      this.counted.add(this.#literal(name, many));
    }
    return node.arguments.flatMap((argument) =>
      argument.type === 'ObjectExpression' ? this.#ofSlots(argument) : this.edits(argument),
    );
  }

  #literal(name: string, key: Node | undefined): string {
    if (key?.type !== 'Literal' || typeof key.value !== 'string')
      throw new Error(`the text of ${name}() is no literal: ${this.#source.slice(key?.start, key?.end)}`);
    return key.value;
  }

  /** Of what stands in the slots of a text, which is shown. */
  #ofSlots({ properties }: ESTree.ObjectExpression): Edit[] {
    return properties.flatMap((one) =>
      one.type === 'Property' && !one.shorthand ? this.#ofValue(one.value) : this.edits(one),
    );
  }

  #ofOpening({ name, attributes }: ESTree.JSXOpeningElement): Edit[] {
    const element = name.type === 'JSXIdentifier' ? name.name : '';
    return attributes.flatMap((one) =>
      one.type === 'JSXAttribute' ? this.#ofAttribute(one, element) : this.edits(one),
    );
  }

  #ofAttribute({ name, value }: ESTree.JSXAttribute, element: string): Edit[] {
    if (value === null) return [];
    const named = name.type === 'JSXIdentifier' ? name.name : '';
    const isText = TEXT_ATTRIBUTES.has(named) || TEXT_OF_COMPONENTS[named]?.has(element) === true;
    if (!isText) return this.edits(value);
    if (value.type === 'JSXExpressionContainer') return this.#ofValue(value.expression);
    if (value.type !== 'Literal' || typeof value.value !== 'string' || !HAS_LETTERS.test(value.value)) return [];
    return [{ start: value.start, end: value.end, text: `{${this.#lookUp(decoded(value.value))}}` }];
  }

  /** Of an expression whose value is shown. */
  #ofValue(node: Node): Edit[] {
    switch (node.type) {
      case 'Literal':
        if (typeof node.value !== 'string' || !HAS_LETTERS.test(node.value)) return [];
        return [{ start: node.start, end: node.end, text: this.#lookUp(node.value) }];
      case 'TemplateLiteral':
        return this.#ofTemplate(node);
      case 'ConditionalExpression':
        return [...this.edits(node.test), ...this.#ofValue(node.consequent), ...this.#ofValue(node.alternate)];
      case 'LogicalExpression':
        return [
          ...(node.operator === '&&' ? this.edits(node.left) : this.#ofValue(node.left)),
          ...this.#ofValue(node.right),
        ];
      case 'ParenthesizedExpression':
        return this.#ofValue(node.expression);
      default:
        return this.edits(node);
    }
  }

  #ofTemplate(node: ESTree.TemplateLiteral): Edit[] {
    const pieces = node.quasis.map(({ value }) => value.cooked ?? value.raw);
    if (!pieces.some((piece) => HAS_LETTERS.test(piece))) return node.expressions.flatMap((one) => this.#ofValue(one));
    const slots = new Slots();
    const key = pieces
      .map((piece, at) => {
        const expression = node.expressions[at];
        return expression === undefined ? piece : `${piece}{${slots.add(expression, this.#valueText(expression))}}`;
      })
      .join('');
    return [{ start: node.start, end: node.end, text: this.#lookUp(key, slots) }];
  }

  #valueText(node: Node): string {
    return this.applied(node.start, node.end, this.#ofValue(node));
  }

  #lookUp(key: string, slots?: Slots): string {
    this.keys.add(key);
    const filled = slots === undefined || slots.isEmpty ? '' : `, ${slots.text}`;
    return `__t(${JSON.stringify(key)}${filled})`;
  }

  #ofChildren(node: ESTree.JSXElement | ESTree.JSXFragment): Edit[] {
    const { children } = node;
    if (node.type === 'JSXElement' && isSameEverywhere(node)) return children.flatMap((child) => this.edits(child));
    const first = children.findIndex(isText);
    if (first === -1) return children.flatMap((child) => this.#ofChild(child));
    const last = children.findLastIndex(isText);
    const from = reach(children, first, -1);
    const to = reach(children, last, 1);
    return [
      ...children.slice(0, from).flatMap((child) => this.#ofChild(child)),
      this.#ofSentence(children.slice(from, to + 1)),
      ...children.slice(to + 1).flatMap((child) => this.#ofChild(child)),
    ];
  }

  #ofChild(child: Child): Edit[] {
    return child.type === 'JSXExpressionContainer' ? this.#ofValue(child.expression) : this.edits(child);
  }

  #ofSentence(children: readonly Child[]): Edit {
    const slots = new Slots();
    let hasElements = false;
    const whole = children
      .map((child) => {
        const text = textOf(child);
        if (text !== null) return text;
        if (child.type === 'JSXExpressionContainer') {
          hasElements ||= holdsJsx(child.expression);
          return `{${slots.add(child.expression, this.#valueText(child.expression))}}`;
        }
        hasElements = true;
        return `{${slots.add(child, this.applied(child.start, child.end, this.edits(child)))}}`;
      })
      .join('');
    const key = whole.trim();
    this.keys.add(key);
    const [before, after] = [/^\s/.test(whole) ? "{' '}" : '', /\s$/.test(whole) ? "{' '}" : ''];
    const filled = slots.isEmpty ? '' : `, ${slots.text}`;
    const lookUp = slots.isEmpty && !hasElements ? '__t' : '__parts';
    return {
      start: children[0]!.start,
      end: children.at(-1)!.end,
      text: `${before}{${lookUp}(${JSON.stringify(key)}${filled})}${after}`,
    };
  }
}

/** Names and values of what stands in a sentence. */
class Slots {
  readonly #values = new Map<string, string>();

  get isEmpty(): boolean {
    return this.#values.size === 0;
  }

  get text(): string {
    return `{ ${[...this.#values].map(([name, value]) => `${name}: (${value})`).join(', ')} }`;
  }

  /** Returns its name. */
  add(node: Node, value: string): string {
    const base = nameOf(node);
    let name = base;
    for (let count = 2; this.#values.has(name); count += 1) name = `${base}${count}`;
    this.#values.set(name, value);
    return name;
  }
}

/** What a slot is called by: `count` for `count.toLocaleString()`, `a` for a link. */
function nameOf(node: Node): string {
  switch (node.type) {
    case 'Identifier':
      return node.name;
    case 'MemberExpression':
      return node.property.type === 'Identifier' && !node.computed ? node.property.name : nameOf(node.object);
    case 'CallExpression':
      return nameOfCall(node);
    case 'BinaryExpression':
      return node.left.type === 'PrivateIdentifier' ? 'text' : nameOf(node.left);
    case 'NewExpression':
      return node.arguments[0] === undefined ? 'text' : nameOf(node.arguments[0]);
    case 'TSNonNullExpression':
    case 'ParenthesizedExpression':
    case 'ChainExpression':
      return nameOf(node.expression);
    case 'JSXElement':
      return node.openingElement.name.type === 'JSXIdentifier' ? node.openingElement.name.name.toLowerCase() : 'part';
    default:
      return 'text';
  }
}

/** `f(count)` shows a count, and `count.toFixed()` as well. */
function nameOfCall({ callee, arguments: [argument] }: ESTree.CallExpression): string {
  const shown = argument === undefined ? 'text' : nameOf(argument);
  if (callee.type !== 'MemberExpression') return shown === 'text' ? nameOf(callee) : shown;
  const name = nameOf(callee.object);
  // `Math.round(ms)`
  return /^[A-Z]/.test(name) && argument !== undefined ? shown : name;
}

/** The text that JSX makes of a child; null: it is none. */
function textOf(child: Child): string | null {
  if (child.type === 'JSXText') return decoded(lined(child.value));
  if (child.type !== 'JSXExpressionContainer') return null;
  const { expression } = child;
  if (expression.type === 'JSXEmptyExpression') return '';
  return expression.type === 'Literal' && typeof expression.value === 'string' ? expression.value : null;
}

/** As JSX reads it: line ends and the blanks around them are one blank between words, and none at the edges. */
function lined(text: string): string {
  const lines = text.split('\n');
  return lines
    .map((line, at) => line.replace(at === 0 ? /^$/ : /^\s+/, '').replace(at === lines.length - 1 ? /$^/ : /\s+$/, ''))
    .filter((line) => line !== '')
    .join(' ');
}

/** The few entities that JSX of ours has. */
const ENTITIES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&amp;': '&',
  '&quot;': '"',
  '&nbsp;': '\u00a0',
};
const decoded = (text: string): string => text.replaceAll(/&\w+;/g, (entity) => ENTITIES[entity] ?? entity);

const isText = (child: Child): boolean => HAS_LETTERS.test(textOf(child) ?? '');

/** The last child in that direction that belongs to the sentence. */
function reach(children: readonly Child[], from: number, step: 1 | -1): number {
  let end = from;
  for (let at = from + step; at >= 0 && at < children.length; at += step) {
    const child = children[at]!;
    if (textOf(child) === null && !belongs(child)) break;
    // Line ends at the edge are the layout's.
    if (textOf(child) !== '') end = at;
  }
  return end;
}

function belongs(child: Child): boolean {
  if (child.type === 'JSXExpressionContainer')
    return child.expression.type !== 'LogicalExpression' && !holdsJsx(child.expression);
  if (child.type !== 'JSXElement') return false;
  const { name } = child.openingElement;
  return name.type === 'JSXIdentifier' && WITHIN_A_SENTENCE.has(name.name);
}

/** An option without a value is its text; `translate="no"` is HTML's own word for it. */
function isSameEverywhere({ openingElement: { name, attributes } }: ESTree.JSXElement): boolean {
  if (name.type !== 'JSXIdentifier') return false;
  const named = (wanted: string): boolean =>
    attributes.some((one) => one.type === 'JSXAttribute' && one.name.name === wanted);
  return SAME_EVERYWHERE.has(name.name) || named('translate') || (name.name === 'option' && !named('value'));
}

function holdsJsx(node: Node): boolean {
  return node.type === 'JSXElement' || node.type === 'JSXFragment' || childrenOf(node).some(holdsJsx);
}

function childrenOf(node: Node): Node[] {
  return Object.values(node)
    .flat()
    .filter((value): value is Node => typeof value === 'object' && value !== null && 'type' in value)
    .toSorted((a, b) => a.start - b.start);
}
