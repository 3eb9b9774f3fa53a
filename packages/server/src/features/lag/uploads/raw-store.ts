import { constants, createReadStream } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, realpath, rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { isLagId } from '@guildhall/contract'
import type { Quota } from '../captures/capture.ts'

/**
 * The recordings of this node as files: `staging/HANDLE` while one arrives, and then
 * `LAST TWO DIGITS/HANDLE`. A name is a handle and nothing else, and a folder that leads out of the
 * root is not used.
 */
export type RawStore = {
  /** Makes the folders, and removes what earlier boots left in staging. */
  open(): Promise<void>
  /** @throws when it cannot be written, as all that follow */
  stage(handle: string): Promise<Staged>
  /** Opens a recording to be read. */
  read(handle: string): Promise<{ bytes: number; open(): Readable }>
  /** Where it is, checked; for the analysis, which reads by itself. */
  pathOf(handle: string): Promise<string>
  /** Removes a recording; one that is gone already is no error. */
  remove(handle: string, bytes: number): Promise<void>
  handles(): Promise<string[]>
  readonly quota: Quota & { use(bytes: number): void }
}

/** A file that is being received. */
export type Staged = {
  write(chunk: Buffer): Promise<void>
  /** Makes it durable under its handle. */
  publish(): Promise<void>
  /** Removes whatever is there of it. */
  discard(): Promise<void>
}

const staging = 'staging'
const isShard = /^[0-9a-f]{2}$/
const noFollow = constants.O_NOFOLLOW

/**
 * @param root an absolute path
 * @param bytesMax what all recordings may take, promised ones included
 */
export function createRawStore(root: string, bytesMax: number): RawStore {
  let used = 0
  let reserved = 0

  async function folder(name: string): Promise<string> {
    const real = await realpath(join(root, name))
    if (real !== join(await realpath(root), name)) {
      throw new Error('a folder of raw_root leads out of it')
    }
    return real
  }

  async function pathOf(handle: string): Promise<string> {
    if (!isLagId('handle', handle)) throw new Error('a file name that is no handle')
    return join(await folder(handle.slice(-2)), handle)
  }

  async function publish(handle: string, from: string): Promise<void> {
    await mkdir(join(root, handle.slice(-2)), { recursive: true, mode: 0o700 })
    const to = await pathOf(handle)
    await rename(from, to)
    await syncFolder(join(to, '..'))
    await syncFolder(root)
  }

  return {
    pathOf,
    async open() {
      await mkdir(join(root, staging), { recursive: true, mode: 0o700 })
      const path = await folder(staging)
      for (const name of await readdir(path)) {
        if (isLagId('handle', name)) await unlink(join(path, name))
      }
    },
    async stage(handle) {
      if (!isLagId('handle', handle)) throw new Error('a file name that is no handle')
      const path = join(await folder(staging), handle)
      const file = await open(
        path,
        constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL,
        0o600,
      )
      return stagedFile(file, {
        path,
        publish: () => publish(handle, path),
        pathOf: () => pathOf(handle),
      })
    },
    async read(handle) {
      const file = await open(await pathOf(handle), constants.O_RDONLY | noFollow)
      const { size } = await file.stat()
      return { bytes: size, open: () => createReadStream('', { fd: file, autoClose: true }) }
    },
    async remove(handle, bytes) {
      await removeFile(await pathOf(handle).catch(missing))
      used = Math.max(0, used - bytes)
    },
    async handles() {
      const entries = await readdir(root, { withFileTypes: true })
      // A file or a link of such a name is of somebody else.
      const shards = entries.filter((entry) => entry.isDirectory() && isShard.test(entry.name))
      const lists = await Promise.all(shards.map(async ({ name }) => readdir(await folder(name))))
      return lists.flat().filter((name) => isLagId('handle', name))
    },
    quota: {
      free: () => bytesMax - used - reserved,
      reserve(bytes) {
        reserved += bytes
      },
      release(bytes) {
        reserved -= bytes
      },
      use(bytes) {
        used += bytes
      },
    },
  }
}

type Places = { path: string; publish(): Promise<void>; pathOf(): Promise<string> }

function stagedFile(file: FileHandle, { path, publish, pathOf }: Places): Staged {
  let isOpen = true
  const close = async () => {
    if (isOpen) await file.close()
    isOpen = false
  }
  return {
    async write(chunk) {
      let at = 0
      while (at < chunk.length) at += (await file.write(chunk, at)).bytesWritten
    },
    async publish() {
      await file.sync()
      await close()
      await publish()
    },
    async discard() {
      await close()
      await removeFile(path)
      await removeFile(await pathOf().catch(missing))
    },
  }
}

/** A rename is durable once its folder is. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

async function removeFile(path: string | undefined): Promise<void> {
  if (path !== undefined) await unlink(path).catch(missing)
}

/** What is not there need not be removed. */
function missing(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
  throw error
}
