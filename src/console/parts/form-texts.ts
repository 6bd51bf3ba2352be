import type { TargetedEvent } from 'preact';

/** Reads the fields of a form by name, as text; the empty text where there is none. */
export function textsOf(form: HTMLFormElement): (name: string) => string {
  const given = new FormData(form);
  return (name) => {
    const value = given.get(name);
    return typeof value === 'string' ? value : '';
  };
}

/** The same without blanks around it; null where nothing is written. */
export function givenIn(form: HTMLFormElement): (name: string) => string | null {
  const text = textsOf(form);
  return (name) => text(name).trim() || null;
}

/** What a form does when it is sent: `run` with the form, and the page stays. */
export function onSubmit(run: (form: HTMLFormElement) => unknown): (event: TargetedEvent<HTMLFormElement>) => void {
  return (event) => {
    event.preventDefault();
    void run(event.currentTarget);
  };
}
