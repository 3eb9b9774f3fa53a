import { posix } from 'node:path'
import { type CodeSource, isTestPath, lineAt, type Problem } from './sources.ts'

/** Who may import whom: see "Who may import whom" in ARCHITECTURE.md. */
export function checkImports(files: readonly CodeSource[]): Problem[] {
  return files.flatMap((file) => {
    return file.imports.flatMap(({ specifier, offset }) => {
      const text = objection(file, specifier)
      return text ? [{ path: file.path, line: lineAt(file.text, offset), text }] : []
    })
  })
}

const server = 'packages/server/src/'

/** The zones of the server and what each may import of the others, besides itself. */
const serverZones: Readonly<Record<string, readonly string[] | 'everything'>> = {
  kernel: [],
  database: ['kernel'],
  features: ['kernel', 'database'],
  shell: ['kernel', 'database'],
  doctor: ['kernel', 'database'],
  cluster: ['kernel', 'database'],
  realtime: ['kernel'],
  script: ['kernel'],
  config: ['kernel'],
  cli: 'everything',
  'script-test': 'everything',
  bots: 'everything',
  processes: 'everything',
  node: 'everything',
}

/** What packages of this repository each of them may import. */
const packageZones: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  client: ['contract'],
  dashboard: ['contract', 'client'],
  server: ['contract'],
  bench: ['contract', 'client'],
  // The page of its template.
  'create-guildhall': ['client'],
}

/** Tests of game scripts, and bots, play with the SDK that players use. */
const playAsClient = ['script-test', 'bots'].map((zone) => `packages/server/src/${zone}/`)

function objection(file: CodeSource, specifier: string): string | undefined {
  const [, own] = /^packages\/([^/]+)\//.exec(file.path) ?? []
  if (specifier.startsWith('.')) {
    const target = posix.join(posix.dirname(file.path), specifier)
    if (own && !target.startsWith(`packages/${own}/`)) {
      return `reaches out of its package: import it by the package's name: ${specifier}`
    }
    return file.isTest ? undefined : objectionInside(file.path, target)
  }
  const [, other] = /^@guildhall\/([^/]+)/.exec(specifier) ?? []
  const isPlayer = other === 'client' && playAsClient.some((zone) => file.path.startsWith(zone))
  if (own && other && !packageZones[own]?.includes(other) && !file.isTest && !isPlayer) {
    return `${own} must not import ${other}`
  }
  if (own === 'contract' && !file.isTest && specifier !== 'zod') {
    return `the contract imports zod only, not ${specifier}`
  }
  return undefined
}

function objectionInside(from: string, target: string): string | undefined {
  if (isTestPath(target)) return `product code must not import what is for tests: ${target}`
  if (!from.startsWith(server) || !target.startsWith(server)) return undefined
  const [ownZone, ownFeature] = zoneOf(from)
  const [zone, feature] = zoneOf(target)
  const allowed = ownZone === undefined ? 'everything' : serverZones[ownZone]
  if (allowed === undefined) return `there is no rule for the folder ${ownZone}`
  if (allowed === 'everything') return undefined
  const isOther = feature !== undefined && ownFeature !== undefined && feature !== ownFeature
  if (ownZone === 'features' && zone === 'features' && isOther) {
    return `the feature ${ownFeature} must not import the feature ${feature}`
  }
  if (zone === 'realtime' && ownZone === 'realtime') return objectionInRealtime(from, target)
  if (zone === ownZone || (zone !== undefined && allowed.includes(zone))) return undefined
  return `${ownZone} must not import ${zone ?? target}`
}

const realtime = `${server}realtime/`

/** What both rooms of realtime may import: the door between them, and values that both know. */
const commonInRealtime = [
  'play.port.ts',
  'ports.ts',
  'config.ts',
  'metrics.ts',
  'built-in-methods.ts',
  'counting-ids.ts',
  'frames/',
] as const

/** The edge and the owner reach each other through the door only. */
function objectionInRealtime(from: string, target: string): string | undefined {
  const [own, other] = [roomOf(from), roomOf(target)]
  if (own === 'composition' || own === other || other === 'common') return undefined
  return `in realtime, ${own} reaches ${other} through play.port.ts only`
}

function roomOf(path: string): 'connection' | 'play' | 'common' | 'composition' {
  const inside = path.slice(realtime.length)
  if (inside.startsWith('connection/')) return 'connection'
  if (inside.startsWith('play/')) return 'play'
  return commonInRealtime.some((start) => inside.startsWith(start)) ? 'common' : 'composition'
}

/** The folder, and for a feature its name; nothing for the files that compose the whole. */
function zoneOf(path: string): [zone?: string, feature?: string] {
  const [zone, feature, ...rest] = path.slice(server.length).split('/')
  if (zone === undefined || feature === undefined) return []
  return rest.length > 0 ? [zone, feature] : [zone]
}
