/** How a command is called and what it does, for people. */
interface CommandHelp {
  /** Behind `inlet `. */
  call: string;
  does: string;
  /** More about it, a line each. */
  more?: readonly string[];
  options?: readonly (readonly [option: string, meaning: string])[];
}

const REMOTE: CommandHelp['options'] = [
  ['--url URL', 'the server; else INLET_URL, else http://localhost:8080'],
  ['--token-file FILE', 'a file that holds the token; else INLET_TOKEN'],
];

/** Every command by its name. */
export const HELP = {
  start: {
    call: 'start',
    does: 'runs the server',
    more: ['Its settings come from the environment: docs/operating.md lists them.'],
  },
  token: {
    call: 'token [NAME]',
    does: 'prints a new personal token of the operator',
    more: ['Works beside the running server, on the database of DATABASE_URL.'],
  },
  backup: {
    call: 'backup FILE',
    does: 'copies the SQLite database, while the server runs or not',
    more: ['On PostgreSQL use pg_dump. BACKUP_DIR makes the server do it each day.'],
  },
  restore: {
    call: 'restore FILE',
    does: 'puts a backup in the place of the database; the server must be stopped',
    more: ['The present database is kept beside it as .before-restore.'],
  },
  check: {
    call: 'check [FILE]',
    does: 'looks whether the SQLite database, or a backup, is whole, and whether devices share a name',
  },
  export: {
    call: 'export FILE',
    does: 'measurements of a running server as .csv or .ndjson (.gz)',
    more: ['After an interruption the same command goes on where it was.'],
    options: [
      ...REMOTE,
      ['--device DEVICE', 'only this device, by id or serial number'],
      ['--product ID', 'only devices of this product'],
      ['--tag TAG', 'only devices with this tag; may be repeated: with all of them'],
      ['--from TIME', 'start, inclusive; left out: the first value'],
      ['--to TIME', 'end, exclusive; left out: now'],
      ['--fields A,B', 'only these fields'],
      ['--layout wide|long', 'a column for each field, or a line for each value'],
      ['--format csv|ndjson', 'where the name of the file does not say it'],
    ],
  },
  import: {
    call: 'import FILE',
    does: 'sends measurements of a file to a running server; also files of other stores',
    more: ['Run it again to go on after an interruption; sending a line twice is harmless.'],
    options: [
      ...REMOTE,
      ['--device DEVICE', 'for files without a column that names the device'],
      ['--format csv|ndjson', 'where the name of the file does not say it'],
      ['--charset NAME', 'for text that is not UTF-8, such as windows-1252'],
      ['--from STORE', 'a file of influx, victoriametrics, thingsboard or homeassistant'],
      ['--map NAME=FIELD', 'with --from: the field of a name, NAME=DEVICE/FIELD, or NAME= to leave it out'],
      ['--device-column NAME', 'with --from: the column or tag that names the device'],
      ['--time ns|us|ms|s', 'with --from: the unit of times that are numbers'],
      ['--dry-run', 'with --from: only says what would be sent'],
    ],
  },
  config: {
    call: 'config export|plan|apply FOLDER',
    does: 'products, tokens and members of a running server as files',
    more: ['Exit code: 0 nothing to do, or done; 2 pending; 3 changed by other hands; 1 error.'],
    options: [
      ...REMOTE,
      ['--token TOKEN', 'the token itself'],
      ['--workspace ID', 'for a token that sees several'],
      ['--set NAME', 'what these files are called on the server; other sets are left alone'],
      ['--devices', 'export: devices, too'],
      ['--prune', 'removes what the set had and the files have not'],
      ['--delete-data', 'allows what deletes measurements'],
      ['--dry-run', 'apply: only says what it would do'],
      ['--secrets FILE', 'apply: adds the secrets of new tokens to this file'],
      ['--json', 'the answer as JSON'],
    ],
  },
} as const satisfies Record<string, CommandHelp>;

/** The list of all commands. */
export function overview(): string {
  const calls = Object.values(HELP).map(({ call, does }): [string, string] => [call, does]);
  return [
    'Usage (settings as for the server, from the environment):',
    ...columns(calls.map(([call, does]) => [`inlet ${call}`, does])),
    ...columns([
      ['inlet COMMAND --help', 'what a command takes'],
      ['inlet --version', 'the version'],
    ]),
  ].join('\n');
}

/** Everything about one command. */
export function helpOf({ call, does, more = [], options = [] }: CommandHelp): string {
  return [
    `Usage: inlet ${call}${options.length > 0 ? ' [OPTIONS]' : ''}`,
    ['', does, ...more].join('\n  ').trimEnd(),
    ...(options.length > 0 ? ['', 'Options:', ...columns(options)] : []),
  ].join('\n');
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}
