import type { Config } from '../config.ts';

/**
 * What a command is given: the settings of the server (a wrong one throws when it is asked), and the words behind its
 * name.
 */
export interface CommandInput {
  readonly config: Config;
  env: NodeJS.ProcessEnv;
  args: string[];
}

/** One of the words behind `inlet`; rejects with what is to be told. */
export interface Command {
  run: (input: CommandInput) => Promise<void>;
  usage: string;
}
