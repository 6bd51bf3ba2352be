/** Reads the fields of a form by name, as text; the empty text where there is none. */
export function textsOf(form: HTMLFormElement): (name: string) => string {
  const given = new FormData(form);
  return (name) => {
    const value = given.get(name);
    return typeof value === 'string' ? value : '';
  };
}
