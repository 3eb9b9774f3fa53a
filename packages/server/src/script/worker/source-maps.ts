import { SourceMap } from 'node:module'
import { posix } from 'node:path'
import { HostMap } from './host-map.ts'

/** A place in a file, or in the source that it was made of. Lines and columns begin with 1. */
export type CodePlace = { readonly file: string; readonly line: number }

type Generated = CodePlace & { readonly column: number }

/** Leads from lines of files that were made by a tool to those of their author. */
export type SourceMaps = (place: Generated) => CodePlace

const mapInside =
  /^\/\/[#@] sourceMappingURL=data:application\/json;(?:charset=utf-8;)?base64,(\S+)/m
const comment = /^\/\/[#@] sourceMappingURL=(\S+)\s*$/gm

/** The file of the map that a text names; undefined without one, and for one inside of the text. */
export function mapFileOf(path: string, text: string): string | undefined {
  const url = [...text.matchAll(comment)].at(-1)?.[1]
  if (url === undefined || /^[a-z]+:|^\//i.test(url)) return undefined
  return posix.normalize(posix.join(posix.dirname(path), url))
}

type ReadFile = (path: string) => Uint8Array | undefined

/** @param bytesOf what a local file holds; undefined for one that is not there */
export function createSourceMaps(bytesOf: ReadFile): SourceMaps {
  const known = new HostMap<string, ((place: Generated) => CodePlace | undefined) | undefined>()

  function sourceFinder(file: string) {
    if (!known.has(file)) known.set(file, findSources(file, bytesOf))
    return known.get(file)
  }

  return ({ file, line, column }) => sourceFinder(file)?.({ file, line, column }) ?? { file, line }
}

/** Undefined where the file names no map, or one that cannot be read. */
function findSources(file: string, bytesOf: ReadFile) {
  const text = textOf(bytesOf(file))
  const at = mapFileOf(file, text)
  const [, encoded = ''] = mapInside.exec(text) ?? []
  const inside = Buffer.from(encoded, 'base64').toString()
  const map = readMap(at === undefined ? inside : textOf(bytesOf(at)))
  if (map === undefined) return undefined
  const folder = posix.join(posix.dirname(at ?? file), map.payload.sourceRoot ?? '')
  return ({ line, column }: Generated): CodePlace | undefined => {
    const found = map.findEntry(line - 1, column - 1)
    if (!('originalSource' in found) || /^[a-z]+:|^\//i.test(found.originalSource)) return undefined
    const source = posix.normalize(posix.join(folder, found.originalSource))
    return { file: source, line: found.originalLine + 1 }
  }
}

function readMap(json: string): SourceMap | undefined {
  try {
    return json === '' ? undefined : new SourceMap(JSON.parse(json))
  } catch {
    return undefined
  }
}

function textOf(bytes: Uint8Array | undefined): string {
  return new TextDecoder().decode(bytes)
}
