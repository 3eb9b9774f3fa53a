import { fileURLToPath } from 'node:url'

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
  const [, file, line] = /^(.+?):(\d+)(?::\d+)?\)?$/.exec(path.slice(start + rootPath.length)) ?? []
  if (start < 0 || !file || file.includes('node_modules/') || file === builders) return undefined
  return `${file}:${line}`
}
