import { limits } from '../../../wire/limits.ts'
import type { ErrorPlace } from '../../errors.ts'
import type { CodePlace, SourceMaps } from '../../source-maps.ts'

/** Where the files of a script are. */
export type ScriptPlaces = {
  /** The URL of each of its folders, with what its files' paths begin with. */
  readonly roots: readonly { readonly url: string; readonly path: string }[]
  readonly sourceOf: SourceMaps
}

/**
 * Message and place of whatever a script threw: the author's line nearest to the throw. The message
 * says which lines led there, and where a package threw. Reading it may run code of the script
 * (getters), which may throw again; then there is nothing more to say.
 */
export function describeError(error: unknown, places: ScriptPlaces): ErrorPlace {
  try {
    if (!(error instanceof Error)) return { message: cut(`thrown: ${textOf(error)}`) }
    const message = cut(`${String(error.name)}: ${String(error.message)}`)
    const frames = framesIn(String(error.stack), places)
    const [top] = frames
    if (top === undefined) return { message }
    const own = frames.filter(({ file }) => !isOfPackage(file))
    const place = own[0] ?? top
    return { message: message + wayTo(place, { top, own }), ...place }
  } catch {
    return { message: 'an error that cannot be read' }
  }
}

/** An object that has no words of its own, e.g. `{ code, message }`, as JSON where it is any. */
function textOf(thrown: unknown): string {
  const text = String(thrown)
  if (text !== '[object Object]') return text
  let left = shownMax
  const shown = (_name: string, value: unknown) => {
    left -= 1
    if (left < 0) throw new RangeError('more than a log shows')
    return typeof value === 'bigint' ? `${value}` : value
  }
  try {
    return JSON.stringify(thrown, shown) ?? text
  } catch {
    return text
  }
}

/** Values in an object that was thrown: a larger one is not written out to be cut. */
const shownMax = 1000

const placeIn = /^([^\s():]+):(\d+)(?::(\d+))?/

/** The places inside the folders of the script that the stack names, the top first. */
function framesIn(stack: string, { roots, sourceOf }: ScriptPlaces): CodePlace[] {
  const frames: CodePlace[] = []
  for (const text of stack.split('\n')) {
    const root = roots.find(({ url }) => text.includes(url))
    if (root === undefined) continue
    const below = text.slice(text.indexOf(root.url) + root.url.length)
    const [, path, line, column = 1] = placeIn.exec(below) ?? []
    if (path === undefined) continue
    const file = root.path + decodeURIComponent(path)
    frames.push(sourceOf({ file, line: Number(line), column: Number(column) }))
  }
  return frames
}

function isOfPackage(file: string): boolean {
  return file.split('/').includes('node_modules')
}

const callersMax = 4

type Way = { top: CodePlace; own: readonly CodePlace[] }

function wayTo(place: CodePlace, { top, own }: Way): string {
  const text = ({ file, line }: CodePlace) => `${file}:${line}`
  const callers = [...new Set(own.slice(1).map(text))].slice(0, callersMax)
  const said = [
    ...(place === top ? [] : [`thrown at ${text(top)}`]),
    ...(callers.length === 0 ? [] : [`called from ${callers.join(', ')}`]),
  ]
  return said.length === 0 ? '' : ` (${said.join('; ')})`
}

function cut(text: string): string {
  return text.length > limits.errorTextChars
    ? `${text.slice(0, limits.errorTextChars)} [cut]`
    : text
}
