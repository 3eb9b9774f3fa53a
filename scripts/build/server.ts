import { type Dirent, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'

const root = join(import.meta.dirname, '../..')
const dist = join(root, 'packages/server/dist')

/** All that the server is made of; what the lockfile pins stands for everything else. */
const sources = ['packages/server/src', 'packages/contract/src', 'scripts/build']
const lockfile = join(root, 'package-lock.json')

/** Packages that are loaded as they are installed: of machine code, or not installed at all. */
const external = ['@node-rs/argon2', 'pg-native', 'pg-cloudflare', 'bufferutil', 'utf-8-validate']

/**
 * Joins the modules of the server into few files, `packages/server/dist/main.mjs` and what it
 * loads, so that a start opens and links few files instead of some six hundred. Workers and
 * scripts' processes still run from their sources.
 *
 * @returns whether it was built: without `always` only when a source is newer than the files
 */
export async function buildServer(options: { always?: boolean } = {}): Promise<{ built: boolean }> {
  const made = join(dist, 'main.mjs')
  if (!options.always && existsSync(made) && newestSource() < statSync(made).mtimeMs) {
    return { built: false }
  }
  const next = `${dist}.${process.pid}`
  await bundle(next)
  await mkdir(dist, { recursive: true })
  // Files that a running node may still load stay; main.mjs comes last.
  const names = readdirSync(next).sort(
    (a, b) => Number(a === 'main.mjs') - Number(b === 'main.mjs'),
  )
  for (const name of names) await rename(join(next, name), join(dist, name))
  await rm(next, { recursive: true })
  return { built: true }
}

async function bundle(outdir: string): Promise<void> {
  // Loaded only here: a start that has nothing to build does not wait for it.
  const { build } = await import('esbuild')
  await build({
    entryPoints: [join(root, 'packages/server/src/main.ts')],
    outdir,
    outExtension: { '.js': '.mjs' },
    absWorkingDir: root,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    sourcemap: true,
    sourcesContent: false,
    legalComments: 'none',
    external,
    // What is written in CommonJS asks for the modules of Node.js by `require`.
    banner: { js: requireOfNode },
    plugins: [{ name: 'places of sources', setup: (build) => build.onLoad(ofServer, readSource) }],
    logLevel: 'warning',
  })
}

const requireOfNode =
  "import { createRequire } from 'node:module'; " +
  'const require = createRequire(import.meta.url);'

const ofServer = { filter: /packages\/server\/src\/.*\.ts$/ }

/** A worker's file, or the repository's root, is found from where the source lies. */
function readSource({ path }: { path: string }) {
  const fromDist = relative(dist, path)
  const text = readFileSync(path, 'utf8')
  // They would say where the built file lies.
  if (/\bimport\.meta\.(?:dirname|filename)\b/.test(text)) throw new Error(`${path}: use its url`)
  const contents = text.replaceAll(
    'import.meta.url',
    `new URL(${JSON.stringify(fromDist)}, import.meta.url).href`,
  )
  return { loader: 'ts' as const, contents }
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
  return file.isFile() && basename(file.name).endsWith('.ts') && !file.name.endsWith('.test.ts')
}
