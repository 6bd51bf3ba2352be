import { ConfigError, readConfig, StartError } from '../config.ts';
import { programVersion } from '../program-file.ts';
import type { Command } from './command.ts';
import { HELP, helpOf, overview } from './help.ts';

/** Each loads what it needs, and no other command does. */
const COMMANDS: Record<keyof typeof HELP, () => Promise<Command>> = {
  start: () => Promise.reject(new Error('bin/inlet.mjs starts the server')),
  token: async () => (await import('./token.ts')).token,
  backup: async () => (await import('./backup.ts')).backup,
  restore: async () => (await import('./restore.ts')).restore,
  check: async () => (await import('./check.ts')).check,
  export: async () => (await import('./export.ts')).exportFile,
  import: async () => (await import('./import.ts')).importFile,
  config: async () => (await import('./config.ts')).config,
};

function isCommand(name: string): name is keyof typeof HELP {
  // Own names only: "toString" is no command.
  return Object.hasOwn(HELP, name);
}

async function main([name = '', ...args]: string[]): Promise<number> {
  if (name === '--version') return print(`inlet ${programVersion()}`);
  if (name === '--help' || name === 'help') {
    const [about = ''] = args;
    return print(isCommand(about) ? helpOf(HELP[about]) : overview());
  }
  if (!isCommand(name)) {
    if (name !== '') console.error(`There is no "inlet ${name}".`);
    console.error(overview());
    return 2;
  }
  if (args.includes('--help')) return print(helpOf(HELP[name]));
  try {
    const command = await COMMANDS[name]();
    const code = await command({
      get config() {
        return readConfig(process.env);
      },
      env: process.env,
      args,
    });
    return typeof code === 'number' ? code : 0;
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    console.error(error instanceof ConfigError || error instanceof StartError ? said : `inlet ${name}: ${said}`);
    return 1;
  }
}

/** Prints what was asked for; returns the exit code. */
function print(text: string): number {
  console.log(text);
  return 0;
}

process.exitCode = await main(process.argv.slice(2));
