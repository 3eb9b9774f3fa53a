import { isUtf8 } from 'node:buffer'
import { stripTypeScriptTypes } from 'node:module'
import { posix } from 'node:path'
import type { ScriptFile } from '../../../wire/revision.ts'

/** The files of a script as its modules: no other module exists. */
export type Modules = {
  /** @throws Error that names what is missing, and what may have been meant */
  resolve(base: string, name: string): string
  source(path: string): string
  readonly paths: readonly string[]
  /** The file that does not parse, and where; undefined when all do. */
  findSyntaxError(): { file: string; line?: number } | undefined
}

export function createModules(files: readonly ScriptFile[]): Modules {
  const texts = new Map(files.map(({ path, bytes }) => [path, textOf(bytes)]))

  function resolve(base: string, name: string): string {
    if (texts.has(name) && !name.startsWith('.')) return name
    if (!/^\.{1,2}\//.test(name)) {
      throw new Error(`there is no module ${name}: sandboxed scripts import their own files only`)
    }
    const path = posix.normalize(posix.join(posix.dirname(base), name))
    if (texts.has(path)) return path
    if (path.startsWith('../')) throw new Error(`${name} lies outside of the scripts folder`)
    const stem = path.replace(/\.[cm]?[jt]s$/, '')
    const meant = endings.find((end) => texts.has(stem + end))
    const hint = meant === undefined ? '' : `: write './${stem}${meant}', with its whole name`
    throw new Error(`there is no file ${name}${hint}`)
  }

  return {
    resolve,
    source(path) {
      const text = texts.get(path) ?? ''
      if (path.endsWith('.json')) return `export default JSON.parse(${JSON.stringify(text)})`
      return /\.m?ts$/.test(path) ? stripTypeScriptTypes(text) : text
    },
    paths: [...texts.keys()],
    findSyntaxError() {
      for (const [path, text] of texts) {
        if (/\.(json|map)$/.test(path)) continue
        const line = wrongLine(text, path)
        if (line !== undefined)
          return Number.isInteger(line) ? { file: path, line } : { file: path }
      }
      return undefined
    },
  }
}

const endings = ['.ts', '.mts', '.js', '.mjs', '.json', '/index.ts', '/index.js']

/** Where a text does not parse, as the stripper of types sees it. */
function wrongLine(text: string, path: string): number | undefined {
  try {
    stripTypeScriptTypes(text, { sourceUrl: path })
    return undefined
  } catch (error) {
    const stack = error instanceof Error ? String(error.stack) : ''
    return Number(stack.slice(path.length + 1).split('\n')[0])
  }
}

function textOf(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw new Error('a file is not UTF-8')
  return new TextDecoder().decode(bytes)
}
