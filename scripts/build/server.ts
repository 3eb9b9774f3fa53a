import { createHash } from 'node:crypto'
import { type Dirent, existsSync, globSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { BuildOptions, Plugin } from 'esbuild'
import { filesOf, type Joining, joinFiles } from './joined.ts'
import { modulesOfNode } from './modules-of-node.ts'
import type { BuiltFile } from './scripts.ts'

const root = join(import.meta.dirname, '../..')
const dist = join(root, 'packages/server/dist')

/** All that the server is made of; what the lockfile pins stands for everything else. */
const sources = ['server', 'contract', 'client', 'create-guildhall']
  .map((name) => `packages/${name}/src`)
  .concat('scripts/build')
const lockfile = join(root, 'package-lock.json')

const serverSource = join(root, 'packages/server/src')
/** What a process or a thread begins with, by the name of the file that is built of it. */
const programs: Readonly<Record<string, string>> = {
  main: 'main.ts',
  'compiled-scripts': 'kernel/host/compiled-scripts.ts',
  program: 'program.ts',
  serve: 'serve.ts',
  ...programsOfEngines(),
  'script-worker': 'script/worker/serve-node.ts',
  'script-watchdog': 'script/worker/watchdog/watchdog.ts',
  'hashing-worker': 'kernel/auth/hashing-worker.ts',
  'checkpoint-worker': 'database/sqlite/commits/checkpoint.worker.ts',
  'explorer-worker': 'database/sqlite/explorer.worker.ts',
  'read-worker': 'database/sqlite/reads/read.worker.ts',
  'quic-engine': 'realtime/connection/transports/quic/engine/engine.worker.ts',
  'lag-analysis': 'features/lag/analysis/analysis.worker.ts',
  'test-preload': 'script-test/preload.ts',
  'open-game': 'script-test/open-game.ts',
}

/** The workers of scripts, in the folders of their engines, and what makes an image of one. */
function programsOfEngines(): { [name: string]: string } {
  const sources = globSync('script/worker/engines/*/{main,make-image}.ts', { cwd: serverSource })
  return Object.fromEntries(
    sources.map((source) => {
      const suffix = source.endsWith('main.ts') ? '' : '-image'
      return [`script-${basename(dirname(source))}${suffix}`, source]
    }),
  )
}

/** Packages that are loaded as they are installed: of machine code, or not installed at all. */
const external = [
  '@node-rs/argon2',
  'esbuild',
  'pg-native',
  'pg-cloudflare',
  'bufferutil',
  'utf-8-validate',
]

const runner = 'compiled-scripts'

type Sharing = Joining & { programs: readonly string[] }

/**
 * Programs that share modules: they meet in one process, or are many with the same in them. What
 * those of `joined` load at once is one file each, in the order in which they are loaded, and
 * `rest` gets what else is shared. All other programs have a file of their own, with no more in it
 * than they run.
 */
const sharing: readonly Sharing[] = [
  {
    programs: ['program', 'serve', 'test-preload', 'open-game'],
    joined: ['program', 'serve'],
    runner,
  },
  {
    programs: ['script-worker', ...Object.keys(programsOfEngines()).filter(isWorker)],
    joined: ['script-worker'],
    rest: 'script-worker',
    runner,
  },
]

function isWorker(program: string): boolean {
  return !program.endsWith('-image')
}

/**
 * Joins the modules of the server into few files, `packages/server/dist/main.mjs` and what it
 * loads, so that a start opens and links three files instead of some six hundred; so do the threads
 * and the processes that it starts.
 *
 * @returns whether it was built: without `always` only when a source is newer than the files
 */
export async function buildServer(options: { always?: boolean } = {}): Promise<{ built: boolean }> {
  const made = join(dist, 'main.mjs')
  if (!options.always && existsSync(made) && newestSource() < statSync(made).mtimeMs) {
    return { built: false }
  }
  const next = `${dist}.${process.pid}`
  const files = await bundle({ home: dist })
  await mkdir(next, { recursive: true })
  for (const { name, text } of files) await writeFile(join(next, name), text)
  await mkdir(dist, { recursive: true })
  const names = readdirSync(next).sort(
    (a, b) => Number(a === 'main.mjs') - Number(b === 'main.mjs'),
  )
  for (const name of names) await rename(join(next, name), join(dist, name))
  await rm(next, { recursive: true })
  await removeOld(new Set(names))
  return { built: true }
}

/** A running node may still load what an older build made; a day later it goes. */
async function removeOld(made: ReadonlySet<string>): Promise<void> {
  const keptMs = 86_400_000
  for (const name of readdirSync(dist)) {
    const file = join(dist, name)
    const madeMs = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()
    if (!made.has(name) && madeMs < Date.now() - keptMs) await rm(file, { force: true })
  }
}

/** Files of packages that the server reads, by what it asks `import.meta.resolve` for. */
export type Assets = ReadonlyMap<string, string>

type Bundling = {
  /** Where the built files will lie, next to the sources: places in them are said from there. */
  home: string
  /** The files that lie beside the built ones; without it they are where npm installed them. */
  assets?: Assets
}

/** A quarter less to read at each start. All names stay, for those who read a stack. */
const tight = { minifyWhitespace: true, lineLimit: 160 }

/** What esbuild makes of the programs, with a map beside each file. */
export async function bundle({ home, assets }: Bundling): Promise<BuiltFile[]> {
  // Loaded only here: a start that has nothing to build does not wait for it.
  const { build } = await import('esbuild')
  const settings = {
    outdir: home,
    outExtension: { '.js': '.mjs' },
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    sourcemap: true,
    sourcesContent: false,
    legalComments: 'none',
    external,
    define: { protocolOfBuild: JSON.stringify(protocolHash()) },
    // What is written in CommonJS asks for the modules of Node.js by `require`.
    banner: { js: requireOfNode },
    write: false,
    logLevel: 'warning',
  } as const satisfies BuildOptions
  const plugins = [runnerIsLoaded, placesOfSources(home, assets), contractByParts, modulesOfNode]
  const isShared = (name: string) => sharing.some(({ programs }) => programs.includes(name))
  const apart = build({
    ...{ ...settings, ...tight },
    entryPoints: sourcesOf((name) => !isShared(name)),
    plugins: [programsAreLoaded, ...plugins],
  })
  const shared = sharing.map(async ({ programs, ...how }) => {
    const entryPoints = sourcesOf((name) => programs.includes(name))
    const parts = await build({ ...settings, splitting: true, entryPoints, plugins })
    return joinFiles(filesOf(parts), how, { ...settings, ...tight })
  })
  return [...filesOf(await apart), ...(await Promise.all(shared)).flat()]
}

function protocolHash(): string {
  const hash = createHash('sha256')
  for (const path of protocolSources()) hash.update(readFileSync(join(root, path)))
  return hash.digest('hex').slice(0, 16)
}

/** The sources that both ends of a script's channels share: messages, and what lies in them. */
export function protocolSources(): string[] {
  const script = 'packages/server/src/script'
  const shared = [
    `${script}/wire/*.ts`,
    `${script}/functions/arguments.ts`,
    `${script}/worker/watchdog/watchdog-protocol.ts`,
    'packages/contract/src/{script,shapes,values}/*.ts',
  ]
  const paths = globSync(shared, { cwd: root }).filter((path) => !path.endsWith('.test.ts'))
  return paths.sort()
}

function sourcesOf(isWanted: (name: string) => boolean): { [name: string]: string } {
  const wanted = Object.entries(programs).filter(([name]) => isWanted(name))
  return Object.fromEntries(wanted.map(([name, source]) => [name, join(serverSource, source)]))
}

/** The runner is one for all of a process. */
const runnerIsLoaded: Plugin = {
  name: 'the runner is loaded',
  setup(build) {
    const file = `./${runner}.mjs`
    build.onResolve({ filter: new RegExp(`/${runner}\\.ts$`) }, ({ kind }) =>
      kind === 'import-statement' ? { path: file, external: true } : undefined,
    )
  },
}

/** A program that another one imports at its run stays a file. */
const programsAreLoaded: Plugin = {
  name: 'programs are loaded',
  setup(build) {
    build.onResolve({ filter: /^\./ }, ({ path, kind, resolveDir }) => {
      const source = relative(serverSource, join(resolveDir, path))
      const name = kind === 'dynamic-import' ? programOf(source) : undefined
      return name === undefined ? undefined : { path: `./${name}.mjs`, external: true }
    })
  },
}

function programOf(source: string): string | undefined {
  return Object.keys(programs).find((each) => programs[each] === source)
}

/** By a name that no source has. */
const requireOfNode =
  "import { createRequire as requireOfBanner } from 'node:module'; " +
  'const require = requireOfBanner(import.meta.url);'

const ofServer = { filter: /packages\/(?:server|create-guildhall)\/src\/.*\.ts$/ }

function placesOfSources(home: string, assets: Assets | undefined): Plugin {
  const load = ({ path }: { path: string }) => {
    const text = readFileSync(path, 'utf8')
    // They would say where the built file lies.
    if (/\bimport\.meta\.(?:dirname|filename)\b/.test(text)) throw new Error(`${path}: use its url`)
    const place = JSON.stringify(relative(home, path))
    // A program may have got something behind a question mark.
    const own = `new URL(${place} + new URL(import.meta.url).search, import.meta.url).href`
    const built = (file: string) => `new URL('./${file}', import.meta.url)`
    const placed = withPrograms(withTexts(text, path), path, { built, other: own, whole: true })
    const contents = withParts(withAssets(placed, assets))
    return { loader: 'ts' as const, contents }
  }
  return { name: 'places of sources', setup: (build) => build.onLoad(ofServer, load) }
}

/** The sources of the contract; those of the server are read above. */
const contractByParts: Plugin = {
  name: 'contract by parts',
  setup(build) {
    build.onLoad({ filter: /packages\/contract\/src\/.*\.ts$/ }, ({ path }) => {
      return { loader: 'ts', contents: withParts(readFileSync(path, 'utf8')) }
    })
  },
}

const contractSource = join(root, 'packages/contract/src')

/**
 * Imports of what is used alone: of a namespace esbuild takes the parts, and `z` is one value, with
 * messages in fifty languages. By its index the contract would come as a whole, so that a worker
 * built the schemas of every route at each start.
 */
function withParts(text: string): string {
  return text
    .replace("import { z } from 'zod'", "import * as z from 'zod'")
    .replaceAll(/import \{([^}]*)\} from '@guildhall\/contract'/g, (_import, names: string) => {
      const imports = namesIn(names).map((name) => `import { ${name} } from '${placeOf(name)}'`)
      // What follows stays in its line, which errors name.
      return imports.join(';') + '\n'.repeat(names.split('\n').length - 1)
    })
}

/** Where the contract's index takes each of its values from. */
const placesInContract = new Map<string, string>()

function placeOf(name: string): string {
  if (placesInContract.size === 0) {
    const index = readFileSync(join(contractSource, 'index.ts'), 'utf8')
    for (const [, names = '', from = ''] of index.matchAll(/export \{([^}]*)\} from '([^']+)'/g)) {
      for (const each of namesIn(names)) placesInContract.set(each, join(contractSource, from))
    }
  }
  return placesInContract.get(name) ?? '@guildhall/contract'
}

function namesIn(list: string): string[] {
  return list
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each && !each.startsWith('type '))
}

/** Python that a source reads beside itself becomes a part of it. */
function withTexts(text: string, path: string): string {
  const read = /readFileSync\(new URL\('([^']+\.py)', import\.meta\.url\), 'utf8'\)/g
  return text.replaceAll(read, (_read, target: string) =>
    JSON.stringify(readFileSync(join(dirname(path), target), 'utf8')),
  )
}

function withAssets(text: string, assets: Assets | undefined): string {
  if (assets === undefined) return text
  return text.replaceAll(/import\.meta\.resolve\('([^']+)'\)/g, (asked, specifier: string) => {
    const file = assets.get(specifier)
    if (file === undefined) throw new Error(`${asked}: the built server has no file for it`)
    return `new URL('./${file}', import.meta.url).href`
  })
}

/** A place in a source that names a file by where the source lies: the program of a thread, say. */
const places = /new URL\('(\.[^']+\.ts)', import\.meta\.url\)|import\.meta\.url/g

type Places = {
  built: (file: string) => string
  other: string
  /** Every file that is named has to be a program: an installed server has no sources. */
  whole?: boolean
}

function withPrograms(text: string, path: string, { built, other, whole }: Places): string {
  return text.replaceAll(places, (_place, target: string | undefined) => {
    if (target === undefined) return other
    const source = relative(serverSource, join(dirname(path), target))
    const name = programOf(source)
    if (name !== undefined) return built(`${name}.mjs`)
    if (whole) throw new Error(`${path}: no program is built of ${target}`)
    return `new URL('${target}', ${other})`
  })
}

/**
 * For tests, which run the sources themselves: the threads and processes that a source starts begin
 * with the built program, in a fifth of the time.
 */
export const builtPrograms = {
  name: 'built programs',
  enforce: 'pre' as const,
  transform(text: string, path: string): string | undefined {
    if (!ofServer.filter.test(path) || !text.includes("new URL('.")) return undefined
    return withPrograms(text, path, {
      built: (file) => `new URL(${JSON.stringify(pathToFileURL(join(dist, file)).href)})`,
      other: 'import.meta.url',
    })
  },
}

function newestSource(): number {
  const files = sources.flatMap((folder) => {
    return readdirSync(join(root, folder), { withFileTypes: true, recursive: true }).filter(
      isSource,
    )
  })
  const times = files.map((file) => statSync(join(file.parentPath, file.name)).mtimeMs)
  return Math.max(statSync(lockfile).mtimeMs, ...times)
}

function isSource(file: Dirent): boolean {
  return file.isFile() && /\.(?:ts|py)$/.test(file.name) && !file.name.endsWith('.test.ts')
}
