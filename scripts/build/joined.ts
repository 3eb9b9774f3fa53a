import { basename, join } from 'node:path'
import type { BuildOptions, BuildResult, Plugin } from 'esbuild'
import { asScript, type BuiltFile, scriptFiles, takeOf } from './scripts.ts'

/** What esbuild has built without writing it. */
export function filesOf({ outputFiles = [] }: BuildResult): BuiltFile[] {
  return outputFiles.map(({ path, text }) => ({ name: basename(path), text }))
}

type Settings = BuildOptions & {
  outdir: string
  /** The first line of every file. */
  banner: { js: string }
}

export type Joining = {
  /**
   * Programs in the order in which they are loaded: what two of them have goes to the first one.
   */
  joined: readonly string[]
  /** The one of them that also gets what others share, whether it needs it or not. */
  rest?: string
  /** The program that runs them, apart from all: they are scripts then. */
  runner?: string
}

/**
 * Joins what a program loads at once into its own file. Where programs share modules, esbuild makes
 * a file of each set of modules that the same ones use, which were eighty for a node; to open and
 * to link them took a quarter of its start. What is loaded later, if at all, keeps its own files,
 * which take from the joined ones what they share with them.
 */
export async function joinFiles(
  files: readonly BuiltFile[],
  { joined: roots, rest, runner }: Joining,
  settings: Settings,
): Promise<BuiltFile[]> {
  const { build } = await import('esbuild')
  const texts = new Map(files.map(({ name, text }) => [name, text]))
  const groups = groupsOf(roots, texts)
  const chunks = [...texts.keys()].filter((name) => rest && isChunk(name) && !groups.has(name))
  for (const name of chunks) groups.set(name, `${rest}.mjs`)
  const shared = shareByNames(texts, groups, runner)
  const { outdir: folder, ...others } = settings
  const joined = roots.map(async (root, at) => {
    const name = `${root}.mjs`
    const own = [`export * from './${name}'`, ...(shared.get(name) ?? [])].join('\n')
    const made = await build({
      ...{ ...others, ...(runner !== undefined && asScript) },
      stdin: { contents: own, resolveDir: folder, sourcefile: root },
      outfile: join(folder, runner === undefined ? name : `${root}.js`),
      plugins: [fromMemory(texts, { groups, group: name, banner: settings.banner.js })],
    })
    if (runner === undefined) return filesOf(made)
    return scriptFiles(filesOf(made), { root, before: roots.slice(0, at), runner })
  })
  const results = await Promise.all(joined)
  const left = files.filter(({ name }) => !groups.has(name.replace(/\.map$/, '')))
  const apart = left.map(({ name }) => ({ name, text: texts.get(name) ?? '' }))
  return [...apart, ...results.flat()]
}

/** What several programs share, by the name that esbuild gives it. */
function isChunk(name: string): boolean {
  return /^chunk-\w+\.mjs$/.test(name)
}

/** What a file takes of another one, as esbuild writes it. */
const takes = /^import (?:\{([^}]*)\} from )?"\.\/([^"]+)";$/gm

/** The joined file that each file becomes part of. */
function groupsOf(roots: readonly string[], texts: ReadonlyMap<string, string>) {
  const groups = new Map<string, string>()
  const add = (name: string, group: string) => {
    if (groups.has(name) || !texts.has(name)) return
    groups.set(name, group)
    for (const [, , from = ''] of (texts.get(name) ?? '').matchAll(takes)) add(from, group)
  }
  for (const root of roots) add(`${root}.mjs`, `${root}.mjs`)
  return groups
}

/**
 * Makes every file take from the joined files what lies in another group, and returns the lines
 * with which these give it away. Two parts may have things of one name, so there it has another.
 */
function shareByNames(
  texts: Map<string, string>,
  groups: ReadonlyMap<string, string>,
  runner: string | undefined,
) {
  const given = new Map<string, Set<string>>()
  const parts = [...groups.keys()]
  for (const [file, text] of texts) {
    const own = groups.get(file)
    const isScript = runner !== undefined && own !== undefined
    const redirected = text.replaceAll(takes, (line, names: string | undefined, from: string) => {
      if (isScript && names && from === `${runner}.mjs`) return takeOf(names, from)
      const group = groups.get(from)
      if (group === undefined || group === own) return line
      const lines = given.get(group) ?? new Set()
      given.set(group, lines)
      if (names === undefined) {
        lines.add(`import './${from}'`)
        return isScript ? '' : `import "./${group}";`
      }
      const renamed = names.replaceAll(/([\w$]+)( as [\w$]+)?/g, (_name, name: string, as = '') => {
        const shared = `${name}_${parts.indexOf(from)}`
        lines.add(`export { ${name} as ${shared} } from './${from}'`)
        return `${shared}${as || ` as ${name}`}`
      })
      return isScript ? takeOf(renamed, group) : `import {${renamed}} from "./${group}";`
    })
    texts.set(file, redirected)
  }
  return given
}

type Part = { groups: ReadonlyMap<string, string>; group: string; banner: string }

/** The files of one group as esbuild reads them; the others stay files. */
function fromMemory(texts: ReadonlyMap<string, string>, { groups, group, banner }: Part): Plugin {
  return {
    name: 'from memory',
    setup(build) {
      build.onResolve({ filter: /^\.\// }, ({ path, resolveDir, kind }) => {
        const name = path.slice('./'.length)
        const isPart = groups.get(name) === group && kind === 'import-statement'
        return isPart ? { path: join(resolveDir, name) } : { path, external: true }
      })
      build.onLoad({ filter: /\.mjs$/ }, ({ path }) => {
        const name = basename(path)
        const map = Buffer.from(texts.get(`${name}.map`) ?? '').toString('base64')
        const text = (texts.get(name) ?? '')
          .replace(banner, '')
          .replace(/(# sourceMappingURL=).*/, `$1data:application/json;base64,${map}`)
        return { contents: text, loader: 'js' }
      })
    },
  }
}
