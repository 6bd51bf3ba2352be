import { expect, test } from 'vitest';
import { translatedSource } from '../../build/translated-source.ts';

/** What becomes of JSX, and the texts that are in it. */
function of(jsx: string): [string, string[]] {
  const head = 'const a = ';
  const { code, keys } = translatedSource('a.tsx', `${head}${jsx};`);
  return [(code ?? `${head}${jsx};`).slice(head.length, -1), [...keys]];
}

test.each([
  ['<h1>Devices</h1>', '<h1>{__t("Devices")}</h1>', ['Devices']],
  ['<button><Icon /> Sign out</button>', '<button><Icon />{\' \'}{__t("Sign out")}</button>', ['Sign out']],
  [
    '<p>{count.toLocaleString()} calls</p>',
    '<p>{__parts("{count} calls", { count: (count.toLocaleString()) })}</p>',
    ['{count} calls'],
  ],
  ['<p>You are <b>{email}</b>.</p>', '<p>{__parts("You are {b}.", { b: (<b>{email}</b>) })}</p>', ['You are {b}.']],
  ['<p>{n === 1 ? "call" : "calls"}</p>', '<p>{n === 1 ? __t("call") : __t("calls")}</p>', ['call', 'calls']],
  ['<p>{isOn && <i>on it</i>}</p>', '<p>{isOn && <i>{__t("on it")}</i>}</p>', ['on it']],
  ['<p>\n  two\n  lines\n</p>', '<p>{__t("two lines")}</p>', ['two lines']],
  [
    '<p title={`Copy ${name}`} class="quiet" />',
    '<p title={__t("Copy {name}", { name: (name) })} class="quiet" />',
    ['Copy {name}'],
  ],
  [
    '<label>Rate<input placeholder="a second" /></label>',
    '<label>{__t("Rate")}<input placeholder={__t("a second")} /></label>',
    ['Rate', 'a second'],
  ],
  // What is the same in every language, and an option that is its own value.
  ['<pre>curl it</pre>', '<pre>curl it</pre>', []],
  ['<i translate="no">Grafana</i>', '<i translate="no">Grafana</i>', []],
  ['<option>true</option>', '<option>true</option>', []],
  ['<p>{name}</p>', '<p>{name}</p>', []],
])('the texts of %s are looked up', (jsx, code, keys) => {
  expect(of(jsx)).toEqual([code, keys]);
});

test('a text that is written as t() is counted, and has to be a literal', () => {
  expect([...translatedSource('a.ts', "const a = t('{name} is gone.', { name });").keys]).toEqual(['{name} is gone.']);
  expect(() => translatedSource('a.ts', 'const a = t(name);')).toThrow('the text of t() is no literal: name');
});

test('a text that counts is kept by its plural; strings in slots are texts as well', () => {
  const { code, keys, counted } = translatedSource(
    'a.tsx',
    "const a = counted(n, '{count} call of {who}', '{count} calls of {who}', { who: n > 2 ? 'many' : name });",
  );
  expect(code).toContain('{ who: n > 2 ? __t("many") : name }');
  expect([...keys]).toEqual(['{count} calls of {who}', 'many']);
  expect([...counted]).toEqual(['{count} calls of {who}']);
  expect(() => translatedSource('a.ts', 'const a = counted(n, one, many);')).toThrow(
    'the text of counted() is no literal: one',
  );
});
