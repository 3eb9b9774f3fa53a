import { existsSync, realpathSync } from 'node:fs'
import type { Clock } from '../../kernel/clock.ts'
import type { Log } from '../../kernel/log/log.ts'
import { type ScriptConfig, tickDeadlineMs } from '../config.ts'
import { prepareImage } from '../process/engine-image.ts'
import { type EarlyProcess, workerEnvironment } from '../process/engine-process.ts'
import { filesToHandOver, type HandedFiles, type Selection } from '../process/languages.ts'
import { besideScripts } from '../process/script-files.ts'
import { type AskedFiles, ScriptWorker, type WorkerEnd } from '../process/script-worker.ts'
import type { ServingScript } from '../serving/serving-script.ts'
import type { Handlers } from '../wire/hooks.ts'
import type { LineSettings, NodeTime } from '../wire/protocol.ts'
import { revisionId, type ScriptFile } from '../wire/revision.ts'

export type ScriptWorkersDeps = {
  config: ScriptConfig
  log: Log
  /** See `ScriptHostDeps`. */
  packagesRoot?: string | undefined
  nodeId: string
  lines: LineSettings
  stateBytesMax: number
  /** By this clock the process is watched: its deadlines are real. */
  processClock: Clock
  nodeTime: () => NodeTime | undefined
  environment: NodeJS.ProcessEnv
  /** Taken by the first script, if it is the one that it was started for. */
  early?: EarlyProcess | undefined
  /** A script before its worker has loaded it. */
  createScript(): ServingScript
  /** Called when the worker of a script that had loaded has ended by itself. */
  ended(script: ServingScript, end: WorkerEnd): void
}

/** A script that has loaded once: what a restart loads again. */
export type Revision = {
  readonly id: string
  readonly selection: Selection
  readonly files: readonly ScriptFile[]
}

/** A script that its worker has loaded. */
export type LoadedScript = {
  readonly script: ServingScript
  readonly worker: ScriptWorker
  readonly handlers: Handlers
  readonly revision: Revision
}

/** What came of loading: the script, or why there is none, and which files it looked for. */
export type Loading = { readonly asked: AskedFiles; readonly folders: readonly string[] } & (
  | { readonly loaded: LoadedScript }
  | { readonly problem: unknown }
)

/** What to load: the files of a revision, or what the folder holds. */
type Request = { selection: Selection; files?: readonly ScriptFile[] | undefined }

/** Starts the processes of scripts, and knows all that live. */
export class ScriptWorkers {
  readonly #deps: ScriptWorkersDeps
  readonly #workers = new Set<ScriptWorker>()
  /** CPU of those that have ended. */
  #endedCpuSeconds = 0
  #loads = 0
  #isOver = false

  constructor(deps: ScriptWorkersDeps) {
    this.#deps = deps
  }

  /** Whether a script is being loaded. */
  get isLoading(): boolean {
    return this.#loads > 0
  }

  /**
   * Loads a script in a process of its own. Never rejects. Aborting ends the process, also after
   * the load.
   */
  async load(request: Request, generation: number, signal?: AbortSignal): Promise<Loading> {
    this.#loads += 1
    let handed: HandedFiles | undefined
    let worker: ScriptWorker | undefined
    const root = request.selection.engine.files.by === 'node' ? [''] : []
    const seen = () => ({ asked: askedOf(worker, handed), folders: handed?.folders ?? root })
    try {
      const { selection } = request
      handed = await this.#filesFor(request)
      const imageFile = await this.#imageOf(selection)
      if (this.#isOver || signal?.aborted) throw new Error('it is not wanted any more')
      const script = this.#deps.createScript()
      worker = this.#start(selection, script, imageFile)
      const started = worker
      signal?.addEventListener('abort', () => void this.end(started), { once: true })
      const files = handed?.files
      const entry = selection.file
      const { handlers } = await worker.load({ type: 'load', entry, generation, files })
      const revision = newRevision(selection, files ?? filesIn(worker.asked))
      return { ...seen(), loaded: { script, worker, handlers, revision } }
    } catch (problem) {
      if (worker) await this.end(worker)
      return { ...seen(), problem }
    } finally {
      this.#loads -= 1
    }
  }

  /** The last one that was started and lives. */
  get newest(): ScriptWorker | undefined {
    return [...this.#workers].at(-1)
  }

  /** CPU of the processes of all scripts since the node started. */
  get cpuSeconds(): number {
    let seconds = this.#endedCpuSeconds
    for (const worker of this.#workers) seconds += worker.cpuSeconds
    return seconds
  }

  /** Ends a process; what its script had is the caller's business. */
  async end(worker: ScriptWorker): Promise<void> {
    await worker.stop()
    this.#forget(worker)
  }

  /** Ends all processes, and starts none any more. */
  async endAll(): Promise<void> {
    this.#isOver = true
    await Promise.all([...this.#workers].map((worker) => this.end(worker)))
  }

  async #filesFor({ selection, files }: Request): Promise<HandedFiles | undefined> {
    if (files !== undefined) return { files, folders: [] }
    return filesToHandOver(selection, this.#deps.config)
  }

  /** Where there is no image, the worker starts all the same. */
  async #imageOf({ engine, packageDir }: Selection): Promise<string> {
    if (!engine.hasImage) return ''
    const { environment, log, processClock: clock } = this.#deps
    try {
      return await prepareImage({ packageDir, environment, clock })
    } catch (error) {
      log.warn('the script starts slowly: no image of its engine can be kept', { error })
      return ''
    }
  }

  #start(selection: Selection, script: ServingScript, imageFile: string): ScriptWorker {
    const { config, processClock, log } = this.#deps
    const worker: ScriptWorker = new ScriptWorker({
      program: selection.engine,
      settings: {
        scriptsDir: realDirectory(config.scripts_dir),
        sharedDirs: config.shared_dirs.map((name) => {
          return { name, folder: realDirectory(besideScripts(config.scripts_dir, name)) }
        }),
        packagesRoot: realDirectory(this.#deps.packagesRoot ?? ''),
        nodeId: this.#deps.nodeId,
        deadlineMs: config.deadline_ms,
        tickDeadlineMs: tickDeadlineMs(config),
        callTimeoutMs: config.call_timeout_ms,
        memoryMb: config.memory_mb,
        tier: config.tier,
        packageDir: selection.packageDir,
        imageFile,
        inspects: config.inspect !== undefined,
        lines: this.#deps.lines,
        stateBytesMax: this.#deps.stateBytesMax,
        now: this.#deps.nodeTime(),
      },
      environment: workerEnvironment(this.#deps.environment, processClock),
      early: this.#deps.early,
      loadTimeoutMs: config.load_timeout_ms,
      clock: processClock,
      log,
      output: (batch) => script.receive(batch),
      ended: (end) => {
        this.#forget(worker)
        this.#deps.ended(script, end)
      },
    })
    this.#workers.add(worker)
    return worker
  }

  #forget(worker: ScriptWorker): void {
    if (this.#workers.delete(worker)) this.#endedCpuSeconds += worker.cpuSeconds
  }
}

function newRevision(selection: Selection, files: readonly ScriptFile[]): Revision {
  return { id: revisionId(files), selection, files }
}

function askedOf(worker: ScriptWorker | undefined, handed: HandedFiles | undefined): AskedFiles {
  if (handed === undefined) return worker?.asked ?? new Map()
  return new Map(handed.files.map(({ path, bytes }) => [path, bytes]))
}

/** Those that were there. */
export function filesIn(asked: AskedFiles): ScriptFile[] {
  return [...asked].flatMap(([path, bytes]) => (bytes === undefined ? [] : [{ path, bytes }]))
}

function realDirectory(path: string): string {
  return existsSync(path) ? realpathSync(path) : path
}
