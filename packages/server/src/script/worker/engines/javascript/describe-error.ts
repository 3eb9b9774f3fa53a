import { limits } from '../../../wire/limits.ts'
import type { ErrorPlace } from '../../errors.ts'

/**
 * Message and place of whatever a script threw: the author's line nearest to the throw. The message
 * says which lines led there, and where a package threw. Reading it may run code of the script
 * (getters), which may throw again; then there is nothing more to say.
 */
export function describeError(error: unknown, scriptsUrl: string): ErrorPlace {
  try {
    if (!(error instanceof Error)) return { message: cut(`thrown: ${String(error)}`) }
    const message = cut(`${String(error.name)}: ${String(error.message)}`)
    const frames = framesIn(String(error.stack), scriptsUrl)
    const [top] = frames
    if (top === undefined) return { message }
    const own = frames.filter(({ file }) => !isOfPackage(file))
    const place = own[0] ?? top
    return { message: message + wayTo(place, { top, own }), ...place }
  } catch {
    return { message: 'an error that cannot be read' }
  }
}

type Frame = { readonly file: string; readonly line: number }

/** The places inside the scripts folder that the stack names, the top first. */
function framesIn(stack: string, scriptsUrl: string): Frame[] {
  const frames: Frame[] = []
  for (let at = stack.indexOf(scriptsUrl); at >= 0; at = stack.indexOf(scriptsUrl, at + 1)) {
    const found = /^([^\s():]+):(\d+)/.exec(stack.slice(at + scriptsUrl.length))
    const [, file, line] = found ?? []
    if (file !== undefined) frames.push({ file: decodeURIComponent(file), line: Number(line) })
  }
  return frames
}

function isOfPackage(file: string): boolean {
  return file.split('/').includes('node_modules')
}

const callersMax = 4

function wayTo(place: Frame, { top, own }: { top: Frame; own: readonly Frame[] }): string {
  const text = ({ file, line }: Frame) => `${file}:${line}`
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
