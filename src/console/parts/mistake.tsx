import { createContext } from 'preact';
import { useContext, useId } from 'preact/hooks';

/** What the server did not take: where, as a path such as `input.levels[0].any[0].value`, and why. */
interface Mistake {
  path: string;
  why: string;
}

/** The mistake of the form around; null: none. */
export const MistakeContext = createContext<Mistake | null>(null);

const MESSAGE = /^(input(?:\.\w+|\[\d+\])*): (.*)$/s;

/** The mistake that a message of the server names; null: it names no part of the input. */
export function mistakeOf(message: string | null): Mistake | null {
  const [, path, why] = MESSAGE.exec(message ?? '') ?? [];
  return path === undefined || why === undefined ? null : { path, why };
}

/** True when the path is the named part or lies within it. */
export function isWithin(path: string, part: string): boolean {
  return path === part || path.startsWith(`${part}.`) || path.startsWith(`${part}[`);
}

interface Marks {
  /** For the control of the part. */
  marks: { 'aria-invalid'?: 'true'; 'aria-describedby'?: string };
  /** Below the control. */
  told: preact.JSX.Element | null;
}

/** Marks the control of a part of the input where the server did not take it. */
export function useMistake(part: string): Marks {
  const id = useId();
  const mistake = useContext(MistakeContext);
  if (mistake === null || !isWithin(mistake.path, part)) return { marks: {}, told: null };
  return {
    marks: { 'aria-invalid': 'true', 'aria-describedby': id },
    told: <MistakeText id={id} why={mistake.why} />,
  };
}

/** A sentence below what is wrong. */
export function MistakeText({ id, why }: { id?: string; why: string }) {
  return (
    <small class="mistake" id={id} role="alert">
      {why[0]?.toUpperCase()}
      {why.slice(1)}
    </small>
  );
}
