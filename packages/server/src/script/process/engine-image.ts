import { mkdtemp, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Clock } from '../../kernel/clock.ts'
import { openCacheFolder } from '../../kernel/host/cache-folder.ts'
import { imageSource, isImage } from '../worker/engines/python/interpreter/image.ts'

/** Makes the image, in a process of its own: it computes for seconds. */
const maker = new URL('../worker/engines/python/make-image.ts', import.meta.url)

const keptMs = 30 * 86_400_000
const namePattern = /^(python-[0-9a-f]{16}\.image|making-.{6})$/

type Options = {
  packageDir: string
  /** Says where the user's cache is. */
  environment: NodeJS.ProcessEnv
  clock: Pick<Clock, 'nowUnixMs'>
  /** Writes the image into a file that is not there yet. */
  make?: (packageDir: string, file: string) => Promise<void>
}

/**
 * The file of the image that workers of Python begin with. It is made where it is missing, and made
 * anew where it is not what it should be. Rejects where the folder takes no file, or one of another
 * user: workers start without an image then, only slower.
 */
export async function prepareImage(options: Options): Promise<string> {
  const { packageDir, environment, clock, make = runMaker } = options
  const folder = openCacheFolder(environment)
  const source = imageSource(packageDir)
  const name = `python-${source.slice(0, 16)}.image`
  const file = join(folder, name)
  const now = new Date(clock.nowUnixMs())
  if (await isImage(file, source)) {
    await utimes(file, now, now).catch(() => {})
    return file
  }
  // Another process may make it at the same time, which makes the same: the last one stays.
  const making = await mkdtemp(join(folder, 'making-'))
  try {
    await make(packageDir, join(making, name))
    await rename(join(making, name), file)
  } finally {
    await rm(making, { recursive: true, force: true })
  }
  await removeUnused(folder, clock.nowUnixMs())
  return file
}

async function runMaker(packageDir: string, file: string): Promise<void> {
  const { fork } = process.getBuiltinModule('node:child_process')
  const child = fork(fileURLToPath(maker), [packageDir, file], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  let said = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = `${said}${text}`.slice(-textMax)
  })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  child.on('error', reject)
  child.on('close', (code) => {
    if (code === 0) resolve()
    else reject(new Error(`the image of Python was not made: ${said.trim()}`))
  })
  await promise
}

const textMax = 2000

/** What no start has used for long: images of other versions, and what a killed start has left. */
async function removeUnused(folder: string, nowMs: number): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!namePattern.test(name)) continue
    const file = join(folder, name)
    // Another process may have removed it meanwhile.
    const found = await stat(file).catch(() => undefined)
    if (found && found.mtimeMs < nowMs - keptMs) await rm(file, { recursive: true, force: true })
  }
}
