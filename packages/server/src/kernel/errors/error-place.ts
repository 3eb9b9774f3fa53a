import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BuiltMap } from './built-map.ts'

/**
 * The place in this project's code where an error was made, such as
 * `packages/server/src/node.ts:120`; the error's name when no frame of its stack lies here.
 */
export function placeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  for (const frame of (error.stack ?? '').split('\n')) {
    const place = placeInFrame(frame)
    if (place) return place
  }
  return error.name
}

const root = new URL('../../../../../', import.meta.url)
const rootPath = fileURLToPath(root)

/** Where refusals are built for everybody else: never the place that one is about. */
const builders = 'packages/server/src/kernel/failure.ts'

function placeInFrame(frame: string): string | undefined {
  if (!/^\s+at /.test(frame)) return undefined
  const path = frame.replace(root.href, rootPath)
  const start = path.indexOf(rootPath)
  const [, made = '', line = '', column = '1'] =
    /^(.+?):(\d+)(?::(\d+))?\)?$/.exec(path.slice(start + rootPath.length)) ?? []
  if (start < 0 || made === '' || made.includes('node_modules/')) return undefined
  const { file, line: at } = written(made, Number(line), Number(column))
  return file === builders || file.includes('node_modules/') ? undefined : `${file}:${at}`
}

const maps = new Map<string, BuiltMap>()

/** Where the code of a frame was written, when it is of a built file, made of several. */
function written(file: string, line: number, column: number): { file: string; line: number } {
  if (!/\.m?js$/.test(file)) return { file, line }
  try {
    const map = maps.get(file) ?? new BuiltMap(readFileSync(`${rootPath}${file}.map`, 'utf8'))
    maps.set(file, map)
    const found = map.find(line - 1, column - 1)
    if (found === undefined) return { file, line }
    return { file: posix.join(posix.dirname(file), found.source), line: found.line + 1 }
  } catch {
    return { file, line }
  }
}
