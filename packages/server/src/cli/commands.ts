/** The commands, in the order of the help, with the flags that only they have. */
export const commands = {
  serve: {
    summary: 'Runs the node; the default.',
    aliases: ['start'],
    switches: [
      { name: '--log', summary: 'Prints the log, not only warnings and what the script writes.' },
    ],
    examples: ['guildhall --config game.toml --log', 'guildhall --set rooms.max_rooms=200'],
  },
  dev: {
    summary: 'Runs the node with hot reload, and with the script in DIR if it is named.',
    argument: 'DIR',
    switches: [
      { name: '--log', summary: 'Prints the log, not only warnings and what the script writes.' },
    ],
    examples: ['guildhall dev', 'guildhall dev ./game --bind 127.0.0.1:8000'],
  },
  init: {
    summary: 'Writes the folder of a first game: a script and its test.',
    argument: 'DIR',
    switches: [
      { name: '--language', value: 'L', summary: 'typescript (the default), lua or python.' },
    ],
    examples: ['guildhall init', 'guildhall init ./game --language typescript'],
  },
  bundle: {
    summary: "Joins a game's folder and its packages into DIR/dist/main.js.",
    argument: 'DIR',
    switches: [],
    examples: ['guildhall bundle', 'guildhall bundle ./game'],
  },
  check: {
    summary: 'Checks the configuration and the script, and opens no listener.',
    switches: [
      {
        name: '--print',
        summary: 'Prints the merged configuration, with the source of each value.',
      },
      { name: '--database', summary: 'Also connects, and reports pending migrations.' },
    ],
    examples: ['guildhall check --database', 'guildhall check --print'],
  },
  migrate: {
    summary: 'Applies pending migrations and ends.',
    switches: [{ name: '--check', summary: 'Only lists them; exit code 3 when there are any.' }],
    examples: ['guildhall migrate --check'],
  },
  backup: {
    summary: 'Copies the embedded database, also while a node serves it.',
    switches: [
      { name: '--to', value: 'FILE', summary: 'Where the copy goes.' },
      { name: '--force', summary: 'Replaces FILE.' },
    ],
    examples: ['guildhall backup --to /backups/game.db --force'],
  },
  restore: {
    summary: 'Puts a backup in the place of the embedded database; no node may serve it.',
    switches: [
      { name: '--from', value: 'FILE', summary: 'The backup; it is only read.' },
      { name: '--keep-sessions', summary: 'Players stay signed in.' },
    ],
    examples: ['guildhall restore --from /backups/game.db'],
  },
  'test-script': {
    summary: "Runs the *.test.ts of a game's folder against a node in memory.",
    aliases: ['test'],
    argument: 'DIR',
    switches: [],
    examples: [
      'guildhall test-script ./game',
      'guildhall test-script --config game.toml',
      'guildhall test-script ./game --set runtime.tick_hz=20 --json',
    ],
  },
  bots: {
    summary: 'Plays the game of the running node with many players, and says how it went.',
    argument: 'FILE',
    switches: [
      { name: '--clients', value: 'N', summary: 'Players at once; default 10.' },
      { name: '--seconds', value: 'S', summary: 'How long they play; default 10.' },
      { name: '--max-errors', value: 'R', summary: 'Share of failing calls; default 0.01.' },
    ],
    examples: ['guildhall bots ./bot.ts --clients 500 --seconds 60'],
  },
  'hash-password': {
    summary: 'Reads a password and prints a verifier for console.password.',
    switches: [],
    examples: ['guildhall hash-password'],
  },
  doctor: {
    summary: 'Verifies what must always hold in the store, also while a node serves it.',
    switches: [
      { name: '--only', value: 'NAME,..', summary: 'Runs these checks only.' },
      { name: '--limit', value: 'N', summary: 'Examples per check; default 10.' },
    ],
    examples: ['guildhall doctor --only wallet,boards --limit 50'],
  },
  'audit verify': {
    summary: 'Verifies the hash chain of the audit trail, also while a node serves it.',
    switches: [
      { name: '--expect', value: 'SEQ:HASH', summary: 'Also compares a link noted elsewhere.' },
    ],
    examples: ['guildhall audit verify --expect 42:HASH'],
  },
  reload: {
    summary: 'Has the node of this configuration load its script anew.',
    switches: [],
    examples: ['guildhall reload --config game.toml'],
  },
  profile: {
    summary: "Records where the script of this configuration's node spends its CPU.",
    switches: [
      { name: '--seconds', value: 'N', summary: 'For how long; default 10.' },
      { name: '--out', value: 'FILE', summary: 'A .cpuprofile; default guildhall.cpuprofile.' },
    ],
    examples: ['guildhall profile --seconds 10 --out game.cpuprofile'],
  },
  version: {
    summary: 'Prints version, commit, engine, platform and schema version.',
    switches: [],
    examples: ['guildhall version --json'],
  },
} as const satisfies Record<string, Command>

type Command = {
  summary: string
  /** Other names of it. */
  aliases?: readonly string[]
  /** What may stand behind the command, where anything may. */
  argument?: string
  switches: readonly Switch[]
  examples: readonly string[]
}
/** `value` names what a flag takes. */
type Switch = { name: string; value?: string; summary: string }

export type CommandName = keyof typeof commands

export const commandNames: readonly CommandName[] = [
  'serve',
  'dev',
  'init',
  'bundle',
  'check',
  'migrate',
  'backup',
  'restore',
  'test-script',
  'bots',
  'hash-password',
  'doctor',
  'audit verify',
  'reload',
  'profile',
  'version',
]

/** Each name that a command line may begin with, and the command that it means. */
export const commandWords: ReadonlyMap<string, CommandName> = new Map(
  commandNames.flatMap((name) => {
    const { aliases = [] }: Command = commands[name]
    return [name, ...aliases].map((word): [string, CommandName] => [word, name])
  }),
)

const globalFlags: readonly Switch[] = [
  { name: '--config PATH', summary: 'The configuration file.' },
  { name: '--bind ADDR', summary: 'Sets http.bind.' },
  { name: '--log-level LEVEL', summary: 'Sets logging.level.' },
  { name: '--node-id ID', summary: 'Sets server.node_id.' },
  { name: '--set KEY=VALUE', summary: 'Sets any key but a secret one; may be repeated.' },
  { name: '--json', summary: 'Prints the result for machines.' },
  { name: '--help', summary: 'Prints this.' },
  { name: '--version', summary: 'Prints the version.' },
]

const moreHelp = '`guildhall COMMAND --help` also lists the flags that only the command has.'

/** What `--help` prints: everything, or what concerns one command. */
export function helpText(named: CommandName | undefined): string {
  const usage = `Usage: guildhall [COMMAND] [FLAGS]`
  const flags = ['Flags:', ...globalFlags.map(row)]
  if (named === undefined) {
    const rows = commandNames.map((name) =>
      row({ name: words(name), summary: commands[name].summary }),
    )
    return [usage, '', 'Commands:', ...rows, '', ...flags, '', moreHelp, ''].join('\n')
  }
  const { summary, argument, aliases = [], switches, examples }: Command = commands[named]
  const own = [...switches].map(row)
  const shown = ['Examples:', ...examples.map((line) => `  ${line}`)]
  const behind = argument === undefined ? '' : ` [${argument}]`
  const also = aliases.map((alias) => ` Also \`guildhall ${alias}\`.`).join('')
  const head = [`Usage: guildhall ${named}${behind} [FLAGS]`, '', `${summary}${also}`, '']
  return [...head, ...flags, ...own, '', ...shown, ''].join('\n')
}

function words(name: CommandName): string {
  const { aliases = [] }: Command = commands[name]
  return [name, ...aliases].join(', ')
}

function row({ name, value, summary }: Switch): string {
  const shown = value === undefined ? name : `${name} ${value}`
  return `  ${shown.padEnd(20)}${summary}`
}
