/** A file that was built, by its name in the folder of all. */
export type BuiltFile = { name: string; text: string }

/** As long as `import`, so that what stands behind it in its line is where the map has it. */
const importer = '$$load'

/**
 * How esbuild makes a script of what it would make a module of: one function, which is called with
 * what it takes of other files, and answers with what it exports.
 */
export const asScript = {
  banner: { js: `(function(takenOfScript,require,metaOfScript,${importer}){'use strict';` },
  footer: { js: '})' },
  define: { 'import.meta': 'metaOfScript' },
}

/** How a script takes from a module what `import {NAMES} from "FILE"` would. */
export function takeOf(names: string, file: string): string {
  return `const {${names.replaceAll(' as ', ': ')}} = takenOfScript["./${file}"];`
}

type ScriptOf = {
  root: string
  /** What it may take of: the programs that are loaded before it. */
  before: readonly string[]
  /** The program that runs it, of which it may take as well. */
  runner: string
}

/** The script, its map, and the module by which others import it. */
export function scriptFiles(
  files: readonly BuiltFile[],
  { root, before, runner }: ScriptOf,
): BuiltFile[] {
  let exported: string[] = []
  const scripts = files.map(({ name, text }) => {
    if (name.endsWith('.map')) return { name, text }
    const script = text.replace(lastExport, (_export, list: string, end: string) => {
      const pairs = list.split(',').map((each) => each.trim().split(/\s+as\s+/))
      exported = pairs.map(([own = '', as = own]) => as)
      return `return{${pairs.map(([own = '', as = own]) => `${as}:${own}`)}}${end}`
    })
    return { name, text: withImports(script, name) }
  })
  const others = [runner, ...before].map((each) => `./${each}.mjs`)
  const taken = others.map((file, at) => `${JSON.stringify(file)}:taken${at}`)
  const text = [
    ...others.map((file, at) => `import * as taken${at} from "${file}";`),
    `const place=new URL("./${root}.js",import.meta.url);`,
    `export const {${exported}}=taken0.runScript(place,{${taken}});`,
  ]
  return [...scripts, { name: `${root}.mjs`, text: `${text.join('\n')}\n` }]
}

/** What is imported later, if at all, the runner imports for it. */
function withImports(script: string, name: string): string {
  const text = script.replaceAll(/\bimport(?=\(\s*"\.\/)/g, () => importer)
  if (/(?<![\w$.])import\(/.test(text))
    throw new Error(`${name}: a script imports built files only`)
  // It is read as such. Of regular expressions esbuild leaves all characters as they are.
  if (/[\u0080-\uffff]/.test(text)) throw new Error(`${name}: a script is of ASCII only`)
  return text
}

const lastExport = /\bexport\s*\{([^}]*)\};?(\s*\}\)\s*(?:\/\/#.*\s*)?)$/
