import { answerBytes } from '../context/answer-size.ts';

/** Characters of variables from which only the first mistake is told, as it takes long to write one. */
const LONG_VARIABLES = 16_384;

/** Maximum mistakes in variables that are told: each is with the object that it is in, in full. */
export function mistakesTold(variables: unknown): number {
  return answerBytes(variables, LONG_VARIABLES) > LONG_VARIABLES ? 1 : 50;
}
