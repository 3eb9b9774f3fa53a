import { readFileSync, writeFileSync } from 'node:fs'

/**
 * Completes package-lock.json after a change of dependencies: `node scripts/complete-lockfile.ts`.
 *
 * A registry mirror that lacks the packages of other platforms makes npm leave them out of the lock
 * file, and `npm ci` then refuses the file on every platform. This adds what is missing: optional
 * packages with a pinned version, bound to the platform that their name says.
 */
type Entry = {
  version?: string
  dev?: boolean
  optional?: boolean
  os?: string[]
  cpu?: string[]
  libc?: string[]
  optionalDependencies?: Record<string, string>
}
type Lockfile = { packages: Record<string, Entry> }

export function completeLockfile(lockfile: Lockfile): string[] {
  const added: string[] = []
  for (const [path, entry] of Object.entries(lockfile.packages)) {
    for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
      const own = `${path}/node_modules/${name}`
      const hoisted = `node_modules/${name}`
      if (lockfile.packages[own] !== undefined || lockfile.packages[hoisted] !== undefined) continue
      lockfile.packages[hoisted] = missingEntry(name, range, entry.dev === true)
      added.push(hoisted)
    }
  }
  const sorted = Object.entries(lockfile.packages).sort(([a], [b]) => a.localeCompare(b, 'en'))
  lockfile.packages = Object.fromEntries(sorted)
  return added
}

function missingEntry(name: string, range: string, dev: boolean): Entry {
  const words = (name.split('/').at(-1) ?? name).split('-')
  const os = words.map((word) => systems[word]).find((system) => system !== undefined)
  const cpu = words.map((word) => processors[word]).find((processor) => processor !== undefined)
  const musl = words.some((word) => word.startsWith('musl'))
  const gnu = os === 'linux' && words.some((word) => word.startsWith('gnu'))
  return {
    version: range.replace(/^[\^~]/, ''),
    ...(cpu === undefined ? {} : { cpu: [cpu] }),
    ...(dev ? { dev } : {}),
    ...(musl || gnu ? { libc: [musl ? 'musl' : 'glibc'] } : {}),
    optional: true,
    ...(os === undefined ? {} : { os: [os] }),
  }
}

/** Words of package names and what npm calls the platform. */
const systems: Readonly<Record<string, string>> = {
  aix: 'aix',
  android: 'android',
  darwin: 'darwin',
  freebsd: 'freebsd',
  linux: 'linux',
  netbsd: 'netbsd',
  openbsd: 'openbsd',
  openharmony: 'openharmony',
  sunos: 'sunos',
  win32: 'win32',
  windows: 'win32',
}

const processors: Readonly<Record<string, string>> = {
  arm: 'arm',
  arm64: 'arm64',
  armv7: 'arm',
  ia32: 'ia32',
  loong64: 'loong64',
  mips64el: 'mips64el',
  ppc64: 'ppc64',
  riscv64: 'riscv64',
  s390x: 's390x',
  x64: 'x64',
}

if (import.meta.main) {
  const file = new URL('../package-lock.json', import.meta.url)
  const lockfile: Lockfile = JSON.parse(readFileSync(file, 'utf8'))
  const added = completeLockfile(lockfile)
  writeFileSync(file, `${JSON.stringify(lockfile, null, 2)}\n`)
  process.stdout.write(`added ${added.length} packages of other platforms\n`)
}
