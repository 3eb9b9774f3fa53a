import { execFile } from 'node:child_process'
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/**
 * `npm run build`: the packages that games install, as ES modules with declarations, each in its
 * `dist`. The package.json there is the one that is published; in this repository the packages
 * are their sources.
 */

const root = join(import.meta.dirname, '../..')
const run = promisify(execFile)

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
  private?: boolean
  type: string
  devDependencies?: Record<string, string>
}

/** In the order in which they need each other. */
const packages = ['contract', 'client'] as const

export async function buildPackages(): Promise<void> {
  for (const name of packages) await buildPackage(join(root, 'packages', name))
}

async function buildPackage(folder: string): Promise<void> {
  const dist = join(folder, 'dist')
  await rm(dist, { recursive: true, force: true })
  await mkdir(dist, { recursive: true })
  await compile(join(folder, 'tsconfig.build.json'))
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest
  await writeFile(join(dist, 'package.json'), `${JSON.stringify(published(manifest), null, 2)}\n`)
  await copyFile(join(root, 'LICENSE'), join(dist, 'LICENSE'))
  await copyFile(join(folder, 'README.md'), join(dist, 'README.md'))
}

async function compile(config: string): Promise<void> {
  try {
    await run(join(root, 'node_modules/.bin/tsc'), ['-p', config, '--pretty', 'false'])
  } catch (error) {
    throw new Error((error as { stdout: string }).stdout)
  }
}

/** `./src/wire.ts` becomes `./wire.js` with its declarations beside it. */
function published(manifest: Manifest) {
  const { exports, private: _, devDependencies: _tools, ...facts } = manifest
  const entries = Object.entries(exports).map(([entry, source]) => {
    const built = source.replace(/^\.\/src\//, './').replace(/\.ts$/, '')
    return [entry, { types: `${built}.d.ts`, default: `${built}.js` }]
  })
  const files = ['**/*.js', '**/*.js.map', '**/*.d.ts']
  return { ...facts, sideEffects: false, files, exports: Object.fromEntries(entries) }
}
