import { badInput } from '../../errors.ts';
import { checkText, foldCase } from '../text/text.ts';

/** Shape of an address; mail servers know the rest. */
export const EMAIL = /^[^\s@]+@[^\s@]+$/;
/** Maximum characters of an address. */
export const MAX_EMAIL = 254;

/** The address in lower case; BAD_USER_INPUT naming `path` when it is none. */
export function checkEmail(given: string, path: string): string {
  const email = foldCase(checkText(given, path, { max: MAX_EMAIL }));
  if (!EMAIL.test(email) || email.length > MAX_EMAIL)
    throw badInput(`${path}: expected an email address such as ada@example.org.`);
  return email;
}
