import type { Clock, Timer } from '../../kernel/clock.ts'
import { areEqual, type Contents, contentsOf, lookAt } from './file-look.ts'

type FileWatchDeps = {
  clock: Clock
  /** As configured: where its links lead is looked at anew each time. */
  folder: string
  pollMs: number
  /** Some content has changed and has settled. The next look is after its end. */
  changed: () => Promise<void>
}

/** What is followed, as it was when it was last dealt with. */
type Followed = { readonly paths: readonly string[]; look: string; readonly contents: Contents }

/**
 * Looks at the files of a script again and again, and reports a change when nothing has changed
 * for one look more: a file that is half written, or that an editor is about to rename, is none.
 */
export class FileWatch {
  readonly #deps: FileWatchDeps
  #followed: Followed = { paths: [], look: '', contents: new Map() }
  /** What was seen at the last look, if it is not what is followed. */
  #unsettled: string | undefined
  #timer: Timer | undefined
  #isBusy = false

  constructor(deps: FileWatchDeps) {
    this.#deps = deps
  }

  get isFollowing(): boolean {
    return this.#followed.paths.length > 0
  }

  start(): void {
    const { clock, pollMs } = this.#deps
    this.#timer ??= clock.every(pollMs, () => void this.#look())
  }

  stop(): void {
    this.#timer?.cancel()
  }

  /**
   * From here on these paths are followed, as they are now. Answers with what they hold, so that
   * the caller can compare that with what it has read.
   */
  async follow(paths: Iterable<string>): Promise<Contents> {
    const { folder } = this.#deps
    const all = [...new Set(paths)]
    // The look comes first: what changes behind it is seen as a change.
    const look = await lookAt(folder, all)
    const contents = await contentsOf(folder, all)
    this.#followed = { paths: all, look, contents }
    return contents
  }

  async #look(): Promise<void> {
    if (this.#isBusy) return
    this.#isBusy = true
    try {
      await this.#compare()
    } finally {
      this.#isBusy = false
    }
  }

  async #compare(): Promise<void> {
    const { folder, changed } = this.#deps
    const followed = this.#followed
    const look = await lookAt(folder, followed.paths)
    if (look === followed.look) this.#unsettled = undefined
    else if (look !== this.#unsettled) this.#unsettled = look
    else if (areEqual(await contentsOf(folder, followed.paths), followed.contents)) {
      // Touched, or copied onto itself.
      followed.look = look
    } else {
      this.#unsettled = undefined
      await changed()
    }
  }
}
