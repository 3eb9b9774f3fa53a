import type { DatabaseState } from '../../database.ts'
import { type FileStore, type FileStoreDeps, openFileStore } from './file-store.ts'

export type ServedFileDeps = Omit<FileStoreDeps, 'onDiskFull' | 'onFailure'>

/** One database file through its failures: closed when it cannot be trusted, opened again later. */
export class ServedFile {
  readonly #deps: ServedFileDeps
  #live: FileStore | undefined
  #state: DatabaseState = 'up'
  #closed = false
  #closing: Promise<void> | undefined
  #probing: Promise<boolean> | undefined
  #nextSmallWriteAtMs = 0

  private constructor(deps: ServedFileDeps) {
    this.#deps = deps
  }

  static async open(deps: ServedFileDeps): Promise<ServedFile> {
    const file = new ServedFile(deps)
    file.#live = await file.#open()
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
  }

  #open(): Promise<FileStore> {
    return openFileStore({
      ...this.#deps,
      onDiskFull: () => this.#diskFull(),
      onFailure: (error) => this.#failed(error),
    })
  }

  /** Reads go on, and so do writes that still find room; only a small write ends this state. */
  #diskFull(): void {
    const { clock, log } = this.#deps
    this.#nextSmallWriteAtMs = clock.monotonicMs() + smallWriteEveryMs
    if (this.#state === 'up') log.error('the disk with the database file is full')
    this.#state = 'down'
  }

  #failed(error: unknown): void {
    const { log } = this.#deps
    const failed = this.#live
    this.#live = undefined
    this.#state = 'down'
    this.#nextSmallWriteAtMs = 0
    log.error('the database file failed and is closed until it can be opened again', { error })
    this.#closing = failed
      ?.close()
      .catch((error) => log.warn('the failed file did not close', { error }))
  }

  /** With the connections gone it opens them again; with the disk full it tries a small write. */
  async #recover(): Promise<boolean> {
    const { clock, log } = this.#deps
    try {
      await this.#closing
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

/** Rewrites a number in the file's header that nothing reads. */
const smallWrite = 'PRAGMA user_version = 0'
const smallWriteEveryMs = 5000
