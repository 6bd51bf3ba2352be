import type { TargetedEvent } from 'preact';

/** Reads the fields of a form by name, as text; the empty text for an absent one. */
export function textsOf(form: HTMLFormElement): (name: string) => string {
  const given = new FormData(form);
  return (name) => {
    const value = given.get(name);
    return typeof value === 'string' ? value : '';
  };
}

/** The same without surrounding blanks; null for an empty field. */
export function givenIn(form: HTMLFormElement): (name: string) => string | null {
  const text = textsOf(form);
  return (name) => text(name).trim() || null;
}

/** A submit handler: calls `run` with the form instead of loading a page. */
export function onSubmit(run: (form: HTMLFormElement) => unknown): (event: TargetedEvent<HTMLFormElement>) => void {
  return (event) => {
    event.preventDefault();
    void run(event.currentTarget);
  };
}
