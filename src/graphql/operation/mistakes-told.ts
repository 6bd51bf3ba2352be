import { answerBytes } from '../context/answer-size.ts';

/** Of longer ones the first mistake is told, as it takes milliseconds to write one of a megabyte. */
const LONG_VARIABLES = 16_384;

/** How many mistakes in variables are told: each is with the object that it is in, in full. */
export function mistakesTold(variables: unknown): number {
  return answerBytes(variables, LONG_VARIABLES) > LONG_VARIABLES ? 1 : 50;
}
