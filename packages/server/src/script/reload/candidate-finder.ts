import type { Clock } from '../../kernel/clock.ts'
import type { ScriptConfig } from '../config.ts'
import {
  entryFiles,
  filesToHandOver,
  type Selection,
  selectEntrypoint,
} from '../process/languages.ts'
import { revisionId, type ScriptFile } from '../wire/revision.ts'
import { areEqual, type Contents, contentOfBytes } from './file-look.ts'
import { FileWatch } from './file-watch.ts'
import { filesIn, type Loading, type Revision, type ScriptWorkers } from './script-workers.ts'

type FinderDeps = {
  config: Pick<
    ScriptConfig,
    | 'language'
    | 'scripts_dir'
    | 'shared_dirs'
    | 'tier'
    | 'memory_mb'
    | 'inspect'
    | 'hot_reload'
    | 'hot_reload_poll_ms'
  >
  processClock: Clock
  workers: ScriptWorkers
  /** The files of the revision that serves. */
  serving: () => readonly ScriptFile[]
  /** The files have changed and have settled. */
  changed: () => Promise<void>
}

/** What the folder holds: a script that has loaded, one that has not, or no entry file. */
export type Found = (Loading | { readonly missing: true }) & { readonly selection?: Selection }

/** The files of what was found, as far as they were read. */
export function filesOf(found: Found): readonly ScriptFile[] {
  if ('loaded' in found) return found.loaded.revision.files
  return filesIn(seenBy(found).asked)
}

function seenBy(found: Found): Pick<Loading, 'asked' | 'folders'> {
  return 'asked' in found ? found : { asked: new Map(), folders: [] }
}

/**
 * Loads what the folder holds, as it was at one moment: where a file has changed between the first
 * read and the end of the load, all begins anew. Follows these files from then on.
 */
export class CandidateFinder {
  readonly #deps: FinderDeps
  readonly #watch: FileWatch
  readonly #stopped = new AbortController()

  constructor(deps: FinderDeps) {
    this.#deps = deps
    this.#watch = new FileWatch({
      clock: deps.processClock,
      folder: deps.config.scripts_dir,
      pollMs: deps.config.hot_reload_poll_ms,
      changed: deps.changed,
    })
  }

  /** Looks at the files from now on. */
  async watch(): Promise<void> {
    if (!this.#watch.isFollowing) await this.#follow({ missing: true })
    if (!this.#stopped.signal.aborted) this.#watch.start()
  }

  stop(): void {
    this.#stopped.abort()
    this.#watch.stop()
  }

  /** Loads a revision that was read before, or what the folder holds. Never rejects. */
  async find(generation: number, given?: Revision): Promise<Found> {
    const { workers, config, processClock } = this.#deps
    if (given !== undefined) return workers.load(given, generation)
    let before: Contents | undefined
    for (;;) {
      const found = await this.#load(generation)
      const contents = await this.#follow(found)
      // What is the same as at the last try is there, although it is not what could be read.
      const isSettled = before !== undefined && areEqual(before, contents)
      if (isSettled || (await this.#isUpToDate(found, contents))) return found
      if (this.#stopped.signal.aborted) return found
      before = contents
      if ('loaded' in found) await workers.end(found.loaded.worker)
      const { signal } = this.#stopped
      await processClock.sleep(config.hot_reload_poll_ms, signal).catch(() => {})
    }
  }

  async #load(generation: number): Promise<Found> {
    let selection: Selection | undefined
    try {
      selection = selectEntrypoint(this.#deps.config)
    } catch (problem) {
      return { problem, asked: new Map(), folders: [] }
    }
    if (selection === undefined) return { missing: true }
    return { ...(await this.#deps.workers.load({ selection }, generation)), selection }
  }

  /** Follows what was asked for from here on. */
  #follow(found: Found): Promise<Contents> {
    const serving = this.#deps.serving().map(({ path }) => path)
    const { asked, folders } = seenBy(found)
    return this.#watch.follow([...entryFiles, ...serving, ...asked.keys(), ...folders])
  }

  /** Whether the files still hold what was read. */
  async #isUpToDate(found: Found, contents: Contents): Promise<boolean> {
    const { asked, folders } = seenBy(found)
    if (this.#select()?.file !== found.selection?.file) return false
    for (const [path, bytes] of asked) {
      if (contents.get(path) !== contentOfBytes(bytes)) return false
    }
    return folders.length === 0 || (await this.#isWhole(found))
  }

  /** Undefined also where its engine is not installed. */
  #select(): Selection | undefined {
    try {
      return selectEntrypoint(this.#deps.config)
    } catch {
      return undefined
    }
  }

  /** Of files that the node reads: whether there are no others by now. */
  async #isWhole(found: Found): Promise<boolean> {
    if (found.selection === undefined) return true
    try {
      const again = await filesToHandOver(found.selection, this.#deps.config)
      return again === undefined || revisionId(again.files) === revisionId(filesOf(found))
    } catch {
      return 'problem' in found
    }
  }
}
