import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, copyFile, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { readServerManifest, root, stubs, writeInstalledServer } from './installed-server.ts'

/**
 * `npm run build`: the packages that games install, as ES modules with declarations, each in its
 * `dist`. The package.json there is the one that is published; in this repository the packages
 * are their sources. The package `guildhall` is the server, in a folder of its own.
 */

const run = promisify(execFile)

/** The package `guildhall`, and the files that `npm pack` makes of all four. */
const serverPackage = join(root, 'dist/guildhall')
export const packedFolder = join(root, 'dist/packages')

/** Members that are published as they are. */
type Facts = {
  name: string
  version: string
  description: string
  license: string
  repository: { type: string; url: string; directory: string }
  engines: Record<string, string>
  dependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  peerDependenciesMeta?: Record<string, { optional: boolean }>
}

type Manifest = Facts & {
  exports: Record<string, string>
  bin?: Record<string, string>
  private?: boolean
  type: string
  devDependencies?: Record<string, string>
}

/** In the order in which they need each other. */
const packages = ['contract', 'client', 'create-guildhall'] as const

export async function buildPackages(): Promise<void> {
  for (const name of packages) await buildPackage(join(root, 'packages', name))
  await buildServerPackage()
}

/** Packs what was built, for projects that install from files. The dashboard has to be built. */
export async function packPackages(): Promise<void> {
  await buildPackages()
  await rm(packedFolder, { recursive: true, force: true })
  await mkdir(packedFolder, { recursive: true })
  await run('npm', ['pack', ...packageFolders, '--pack-destination', packedFolder, '--offline'])
}

/** Where each package is built. */
export const packageFolders: readonly string[] = [
  ...packages.map((name) => join(root, 'packages', name, 'dist')),
  serverPackage,
]

async function buildPackage(folder: string): Promise<void> {
  const dist = join(folder, 'dist')
  await rm(dist, { recursive: true, force: true })
  await mkdir(dist, { recursive: true })
  await compile(join(folder, 'tsconfig.build.json'))
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest
  await writeFile(join(dist, 'package.json'), `${JSON.stringify(published(manifest), null, 2)}\n`)
  await copyFile(join(root, 'LICENSE'), join(dist, 'LICENSE'))
  await copyFile(join(folder, 'README.md'), join(dist, 'README.md'))
  const templates = join(folder, 'templates')
  if (existsSync(templates)) await cp(templates, join(dist, 'templates'), { recursive: true })
}

/** The server with its command line. What is joined into its files is no dependency of it. */
async function buildServerPackage(): Promise<void> {
  const folder = serverPackage
  await rm(folder, { recursive: true, force: true })
  await writeInstalledServer(folder)
  const manifest = await readServerManifest()
  const { version, description, license, repository, engines } = manifest
  const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = manifest
  const loaded = Object.entries(dependencies).filter(([name]) => loadedPackages.includes(name))
  const published = {
    ...{ name: 'guildhall', version, description, license, repository, engines },
    ...{ type: 'module', bin: { guildhall: 'bin/guildhall.mjs' }, types: 'guildhall.d.ts' },
    dependencies: Object.fromEntries(loaded),
    ...{ optionalDependencies, peerDependencies, peerDependenciesMeta },
    files: ['bin', 'lib', ...stubs],
  }
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)
  const program = join(folder, 'bin/guildhall.mjs')
  await mkdir(join(folder, 'bin'))
  await copyFile(join(root, 'packages/server/bin/guildhall.mjs'), program)
  await chmod(program, 0o755)
  await copyFile(join(root, 'packages/server/README.md'), join(folder, 'README.md'))
}

/** Of machine code, so not joined into the server's files. */
const loadedPackages = ['@node-rs/argon2']

async function compile(config: string): Promise<void> {
  try {
    const args = ['--checkers', '1', '-p', config, '--pretty', 'false']
    await run(join(root, 'node_modules/.bin/tsc'), args)
  } catch (error) {
    throw new Error((error as { stdout: string }).stdout)
  }
}

/** `./src/wire.ts` becomes `./wire.js` with its declarations beside it. */
function published(manifest: Manifest) {
  const { exports, bin, private: _, devDependencies: _tools, ...facts } = manifest
  const entries = Object.entries(exports).map(([entry, source]) => {
    if (!source.startsWith('./src/')) return [entry, source]
    const built = builtOf(source)
    return [entry, { types: `${built}.d.ts`, default: `${built}.js` }]
  })
  const files = ['**/*.js', '**/*.js.map', '**/*.d.ts', 'templates']
  const programs = Object.entries(bin ?? {}).map(([name, file]) => [name, `${builtOf(file)}.js`])
  return {
    ...facts,
    sideEffects: false,
    files,
    exports: Object.fromEntries(entries),
    ...(programs.length === 0 ? {} : { bin: Object.fromEntries(programs) }),
  }
}

function builtOf(source: string): string {
  return source.replace(/^\.\/src\//, './').replace(/\.ts$/, '')
}
