import type { Config } from '../config.ts';

/** Input of a command: the server's settings (reading a wrong one throws), and its arguments. */
export interface CommandInput {
  readonly config: Config;
  env: NodeJS.ProcessEnv;
  args: string[];
}

/** A command of `inlet`: resolves with its exit code, 0 if none; rejects with the message to print. */
export type Command = (input: CommandInput) => Promise<unknown>;
