import { existsSync, statSync } from 'node:fs'
import { createRequire, isBuiltin } from 'node:module'
import { join, resolve } from 'node:path'
import type * as esbuild from 'esbuild'
import type { LoadedConfig } from '../../config/load.ts'
import { printable } from '../../config/problem.ts'
import type { Invocation } from '../arguments.ts'
import { exitCodes, printJson, printLines, refuse, type Terminal } from '../terminal.ts'

/**
 * Joins the files of a game and the packages that they import into `DIR/dist/main.js`, with a map
 * of its lines: for an engine that reads no packages, or to send one file to a server.
 */
export async function bundleGame(
  { config }: LoadedConfig,
  { argument, json }: Pick<Invocation, 'argument' | 'json'>,
  terminal: Terminal,
): Promise<number> {
  const folder = argument ?? config.runtime.scripts_dir
  const gameDir = resolve(terminal.cwd, folder)
  const entry = ['main.ts', 'main.mjs', 'main.js'].find((name) => isFile(join(gameDir, name)))
  if (entry === undefined) {
    const wanted = `there is no main.ts, main.mjs or main.js in ${folder}`
    return refuse(terminal, wanted, exitCodes.failure)
  }
  const bundler = await findBundler(gameDir)
  if (bundler === undefined) {
    const install = 'bundle needs the package esbuild: npm install --save-dev esbuild'
    return refuse(terminal, install, exitCodes.failure)
  }
  const outfile = join(gameDir, 'dist/main.js')
  const problems = await build(bundler, { gameDir, entry, outfile })
  if (problems.length > 0) {
    if (json) printJson(terminal.stdout, { ok: false, problems })
    else
      printLines(
        terminal.stderr,
        problems.map((line) => `guildhall: ${printable(line)}`),
      )
    return exitCodes.failure
  }
  const { size: bytes } = statSync(outfile)
  const shown = join(folder, 'dist/main.js')
  if (json) printJson(terminal.stdout, { ok: true, file: shown, bytes })
  else printLines(terminal.stdout, [`wrote ${shown}, ${bytes} bytes`])
  return exitCodes.ok
}

type Bundler = Pick<typeof esbuild, 'build'>

/** The project's own, or the one beside the server. */
async function findBundler(gameDir: string): Promise<Bundler | undefined> {
  try {
    const own: Bundler = createRequire(join(gameDir, 'main.js'))('esbuild')
    return own
  } catch {
    return await import('esbuild').catch(() => undefined)
  }
}

type Build = { gameDir: string; entry: string; outfile: string }

/** Answers with what is wrong; nothing is written then. */
async function build(
  bundler: Bundler,
  { gameDir, entry, outfile }: Build,
): Promise<readonly string[]> {
  try {
    await bundler.build({
      absWorkingDir: gameDir,
      entryPoints: [entry],
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'neutral',
      mainFields: ['module', 'main'],
      target: 'es2023',
      sourcemap: 'linked',
      legalComments: 'none',
      logLevel: 'silent',
      plugins: [{ name: 'no modules of Node.js', setup: refuseNodeModules(gameDir) }],
    })
    return []
  } catch (error) {
    const { errors } = error as esbuild.BuildFailure
    return errors.map(({ text, location }) => {
      return location === null ? text : `${location.file}:${location.line}: ${text}`
    })
  }
}

/** A script's engine has none of them: says who asks for one, and who asked for that. */
function refuseNodeModules(gameDir: string): esbuild.Plugin['setup'] {
  const own = {}
  return ({ onResolve, resolve: find }) => {
    const importers = new Map<string, string>()

    function chainTo(file: string): string[] {
      const importer = importers.get(file)
      return [...(importer ? chainTo(importer) : []), file]
    }

    onResolve({ filter: /.*/ }, async ({ path, pluginData, importer, ...asked }) => {
      if (pluginData === own || importer === '') return undefined
      const { kind, namespace, resolveDir, with: attributes } = asked
      const options = { importer, kind, namespace, resolveDir, with: attributes, pluginData: own }
      const found = await find(path, options)
      if (found.errors.length > 0 && isBuiltin(path)) {
        const chain = chainTo(importer).map((file) => file.replace(`${gameDir}/`, ''))
        const text = `a bundle has no modules of Node.js: ${[...chain, path].join(' imports ')}`
        return { errors: [{ text }] }
      }
      if (!importers.has(found.path)) importers.set(found.path, importer)
      return found
    })
  }
}

function isFile(path: string): boolean {
  return existsSync(path) && statSync(path).isFile()
}
