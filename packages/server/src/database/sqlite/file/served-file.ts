import type { DatabaseState } from '../../database.ts'
import { type FileStore, type FileStoreDeps, openFileStore } from './file-store.ts'
import { createIfMissing } from './owned-file.ts'
import { type HeldFile, holdFile } from './same-file.ts'

export type ServedFileDeps = Omit<FileStoreDeps, 'isInPlace' | 'onDiskFull' | 'onFailure'> & {
  /** What the configuration says, by which the next start looks for the file. */
  configuredPath: string
}

/**
 * One database file through its failures: closed when it cannot be trusted, opened again later. A
 * file that is no longer at its path is closed as well: what is written to it, the next start would
 * not find. Another one in its place is never opened.
 */
export class ServedFile {
  readonly #deps: ServedFileDeps
  readonly #held: HeldFile
  #live: FileStore | undefined
  #state: DatabaseState = 'up'
  #closed = false
  #closing: Promise<void> | undefined
  #probing: Promise<boolean> | undefined
  #nextSmallWriteAtMs = 0

  private constructor(deps: ServedFileDeps, held: HeldFile) {
    this.#deps = deps
    this.#held = held
  }

  static async open(deps: ServedFileDeps): Promise<ServedFile> {
    createIfMissing(deps.path)
    const held = holdFile(deps.path, deps.configuredPath)
    const file = new ServedFile(deps, held)
    try {
      file.#live = await file.#open()
    } catch (error) {
      held.close()
      throw error
    }
    return file
  }

  get live(): FileStore | undefined {
    return this.#closed ? undefined : this.#live
  }

  get state(): DatabaseState {
    return this.#closed ? 'down' : this.#state
  }

  async probe(): Promise<boolean> {
    if (this.#closed) return false
    this.#live?.cache.revalidate()
    this.#expectInPlace()
    if (this.#state === 'up') return true
    this.#probing ??= this.#recover().finally(() => {
      this.#probing = undefined
    })
    return this.#probing
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await this.#probing
    await this.#closing
    await this.#live?.close()
    this.#held.close()
  }

  #expectInPlace(): void {
    if (!this.#live) return
    if (!this.#held.isInPlace()) this.#failed(moved)
    else if (!this.#live.hasItsLog()) this.#failed(logRemoved)
  }

  #open(): Promise<FileStore> {
    return openFileStore({
      ...this.#deps,
      isInPlace: this.#held.isInPlace,
      onDiskFull: () => this.#diskFull(),
      onFailure: (error) => this.#failed(failed, error),
    })
  }

  /** Reads go on, and so do writes that still find room; only a small write ends this state. */
  #diskFull(): void {
    const { clock, log } = this.#deps
    this.#nextSmallWriteAtMs = clock.monotonicMs() + smallWriteEveryMs
    if (this.#state === 'up') log.error('the disk with the database file is full')
    this.#state = 'down'
  }

  #failed(message: string, error?: unknown): void {
    const { log, path } = this.#deps
    const closing = this.#live
    this.#live = undefined
    this.#state = 'down'
    this.#nextSmallWriteAtMs = 0
    log.error(message, { path, error })
    this.#closing = closing
      ?.close()
      .catch((error) => log.warn('the failed file did not close', { error }))
  }

  /** With the connections gone it opens them again; with the disk full it tries a small write. */
  async #recover(): Promise<boolean> {
    const { clock, log } = this.#deps
    try {
      await this.#closing
      if (!this.#live && !this.#held.isInPlace()) return false
      this.#live ??= await this.#open()
      if (clock.monotonicMs() < this.#nextSmallWriteAtMs) return false
      await this.#live.writer.do('statement', true, (connection) => connection.exec(smallWrite))
      this.#state = 'up'
      return true
    } catch (error) {
      log.debug('the database file is still not usable', { error })
      return false
    }
  }
}

const failed = 'the database file failed and is closed until it can be opened again'
const moved = 'the database file is not at its path any more and is closed until it is back there'
const logRemoved = 'the log beside the database file was removed; the file is opened anew'

/** Rewrites a number in the file's header that nothing reads. */
const smallWrite = 'PRAGMA user_version = 0'
const smallWriteEveryMs = 5000
