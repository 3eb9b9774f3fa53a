import { type CodeSource, findInCode, lineAt, type Problem } from './sources.ts'

const server = 'packages/server/src/'

type Confined = { pattern: RegExp; to: readonly string[]; text: string }

/** What only the named files and folders of the server may do. */
const confined: readonly Confined[] = [
  {
    pattern: /\bprocess\s*\.\s*env\b/g,
    to: [
      'config/load.ts',
      'main.ts',
      'script-test/open-game.ts',
      'script/worker/engines/javascript/main.ts',
    ],
    text: 'only config/load.ts, script-test/open-game.ts and two main.ts have the environment',
  },
  {
    pattern: anyOf(
      /\b(?:setTimeout|setInterval|setImmediate)\s*\(/,
      /\bDate\s*\.\s*now\b/,
      /\bnew\s+Date\s*\(\s*\)/,
      /\bperformance\s*\.\s*now\b/,
      /\bprocess\s*\.\s*hrtime\b/,
    ),
    to: ['kernel/clock.ts'],
    text: 'only kernel/clock.ts reads time or sets timers',
  },
  {
    pattern: anyOf(
      /\brandom(?:Bytes|Fill|FillSync|UUID|Int)\b/,
      /\bgetRandomValues\b/,
      /\bMath\s*\.\s*random\b/,
    ),
    to: ['kernel/ids.ts'],
    text: 'only kernel/ids.ts makes randomness',
  },
]

const sockets = new Set(['ws', 'net', 'dgram', 'node:net', 'node:dgram'])
/**
 * Beside the listeners only the channel of a script's process to its node, and the network of a
 * test of a game, which it cuts.
 */
const socketPlaces = [
  'realtime/connection/transports/',
  'kernel/http/',
  'kernel/control/',
  'script/worker/serve-node.ts',
  'script-test/test-network.ts',
]
const timers = new Set(['timers', 'node:timers', 'node:timers/promises'])
const namesOfAddresses = /^(?:isIP|isIPv4|isIPv6|BlockList|SocketAddress)$/
const sql = anyOf(
  /^\s*SELECT\s[\s\S]*\sFROM\s/,
  /^\s*INSERT\s+INTO\s/,
  /^\s*UPDATE\s+\S+\s+SET\s/,
  /^\s*DELETE\s+FROM\s/,
  /^\s*(?:CREATE|ALTER|DROP)\s+(?:TABLE|INDEX|UNIQUE)\s/,
)

/** Time, randomness, environment, sockets and SQL, each in its own place. */
export function checkConfinement(files: readonly CodeSource[]): Problem[] {
  const product = files.filter(({ path, isTest }) => path.startsWith(server) && !isTest)
  return product.flatMap((file) => [
    ...confined.flatMap(({ pattern, to, text }) => {
      return isIn(file, to) ? [] : findInCode(file, pattern, text)
    }),
    ...confinedImports(file),
    ...confinedSql(file),
  ])
}

function confinedImports(file: CodeSource): Problem[] {
  return file.imports.flatMap(({ specifier, offset }) => {
    const line = lineAt(file.text, offset)
    const at = { path: file.path, line }
    if (timers.has(specifier) && !isIn(file, ['kernel/clock.ts'])) {
      return [{ ...at, text: 'only kernel/clock.ts reads time or sets timers' }]
    }
    const isSocket = sockets.has(specifier) && !importsOnlyAddresses(file, line)
    if (isSocket && !isIn(file, socketPlaces)) {
      const text = `only the transports, kernel/http and kernel/control import ${specifier}`
      return [{ ...at, text }]
    }
    return []
  })
}

/** Reading an address is no talking over the network. */
function importsOnlyAddresses({ text }: CodeSource, line: number): boolean {
  const [, names] =
    /^import \{([^}]*)\} from 'node:net'/.exec(text.split('\n')[line - 1] ?? '') ?? []
  return names?.split(',').every((name) => namesOfAddresses.test(name.trim())) ?? false
}

function confinedSql(file: CodeSource): Problem[] {
  if (isIn(file, ['database/']) || file.path.endsWith('.store.ts')) return []
  return file.literals
    .filter(({ text }) => text.search(sql) >= 0)
    .map(({ offset }) => {
      const text = 'only database and *.store.ts know SQL'
      return { path: file.path, line: lineAt(file.text, offset), text }
    })
}

function isIn({ path }: CodeSource, places: readonly string[]): boolean {
  return places.some((place) => {
    return place.endsWith('/') ? path.startsWith(server + place) : path === server + place
  })
}

function anyOf(...patterns: RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => source).join('|'), 'g')
}
