import { ConfigError, readConfig, StartError } from '../config.ts';
import { backup } from './backup.ts';
import { check } from './check.ts';
import type { Command } from './command.ts';
import { config } from './config.ts';
import { exportFile } from './export.ts';
import { importFile } from './import.ts';
import { restore } from './restore.ts';
import { token } from './token.ts';

const COMMANDS: Record<string, Command> = {
  start: {
    run: () => Promise.reject(new Error('bin/inlet.mjs starts the server')),
    usage: 'start               the server',
  },
  token: { run: token, usage: 'token [NAME]        prints a new personal token of the operator' },
  backup: { run: backup, usage: 'backup FILE         copies the SQLite database, while the server runs or not' },
  restore: {
    run: restore,
    usage: 'restore FILE        puts a backup in the place of the database; the server must be stopped',
  },
  check: {
    run: check,
    usage:
      'check [FILE]        looks whether the SQLite database, or a backup, is whole, and whether devices share a name',
  },
  export: {
    run: exportFile,
    usage:
      'export FILE         measurements of a running server as .csv or .ndjson (.gz): --device, or --product, --tag; ' +
      '--from, --to, --fields, --layout wide',
  },
  import: {
    run: importFile,
    usage:
      'import FILE         the same files into a running server; --device for files without that column, --charset ' +
      'for text that is not UTF-8; --from influx|victoriametrics|thingsboard|homeassistant for files of those, with --map ' +
      'NAME=FIELD, --device-column, --time ns|us|ms|s, --dry-run. Both: --url, ' +
      'INLET_TOKEN or --token-file; run again to go on after a cut',
  },
  config: {
    run: config,
    usage:
      'config export|plan|apply FOLDER   products, tokens and members of a running server as files: --set, --prune, ' +
      '--delete-data, --devices, --dry-run, --json, --secrets FILE, --workspace; --url, INLET_TOKEN, --token or --token-file. ' +
      'Exit 0 nothing to do or done, 2 pending, 3 changed by other hands, 1 error',
  },
};

async function main([name = '', ...args]: string[]): Promise<number> {
  // Own names only: "toString" is no command.
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined || args.includes('--help')) {
    const isHelp = command !== undefined || name === '--help' || name === 'help';
    if (!isHelp && name !== '') console.error(`There is no "inlet ${name}".`);
    const lines = Object.values(COMMANDS).map(({ usage }) => `  inlet ${usage}`);
    console.error(`Usage (settings as for the server, from the environment):\n${lines.join('\n')}`);
    return isHelp ? 0 : 2;
  }
  try {
    const code = await command.run({
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

process.exitCode = await main(process.argv.slice(2));
