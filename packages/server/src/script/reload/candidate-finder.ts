import type { Clock } from '../../kernel/clock.ts'
import type { ScriptConfig } from '../config.ts'
import { entryFiles, filesToHandOver, type Selection, selectEntrypoint } from '../process/languages.ts'
import { revisionId, type ScriptFile } from '../wire/revision.ts'
import { contentOfBytes } from './file-look.ts'
import { FileWatch } from './file-watch.ts'
import { filesIn, type Loading, type Revision, type ScriptWorkers } from './script-workers.ts'

type FinderDeps = {
  config: Pick<
    ScriptConfig,
    'language' | 'scripts_dir' | 'tier' | 'hot_reload' | 'hot_reload_poll_ms'
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
  return 'asked' in found ? filesIn(found.asked) : []
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
    if (this.#stopped.signal.aborted) return
    this.#watch.start()
  }

  stop(): void {
    this.#stopped.abort()
    this.#watch.stop()
  }

  /** Loads a revision that was read before, or what the folder holds. Never rejects. */
  async find(generation: number, given?: Revision): Promise<Found> {
    const { workers, config, processClock } = this.#deps
    if (given !== undefined) return workers.load(given, generation)
    for (;;) {
      const found = await this.#load(generation)
      if ((await this.#isUpToDate(found)) || this.#stopped.signal.aborted) return found
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

  /** Follows what was asked for, and says whether it still holds what was read. */
  async #isUpToDate(found: Found): Promise<boolean> {
    const serving = this.#deps.serving().map(({ path }) => path)
    const asked = 'asked' in found ? found.asked : new Map<string, Uint8Array>()
    const folders = 'folders' in found ? found.folders : []
    const paths = [...entryFiles, ...serving, ...asked.keys(), ...folders]
    const contents = await this.#watch.follow(paths)
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
      const again = await filesToHandOver(found.selection, this.#deps.config.scripts_dir)
      return again === undefined || revisionId(again.files) === revisionId(filesOf(found))
    } catch {
      return 'problem' in found
    }
  }
}
