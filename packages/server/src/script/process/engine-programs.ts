import { fileURLToPath } from 'node:url'
import type { WorkerSettings } from '../wire/protocol.ts'
import type { FilesOfLanguage } from './script-files.ts'

/** What runs the scripts of a language in one tier. */
export type Program = {
  /** The file that the worker's process begins with. */
  readonly entry: URL
  /** What its Node.js is started with, beside what every worker has. */
  execArgv(places: EnginePlaces): readonly string[]
}

/** What a worker of an engine has to read. */
export type EnginePlaces = Pick<WorkerSettings, 'packageDir' | 'imageFile' | 'inspects'>

/** Whose business it is to read the files of a script. */
type FileReading =
  /** The node reads them all before the load, and they are the revision. */
  | ({ readonly by: 'node' } & FilesOfLanguage)
  /**
   * The engine reads what is imported, and that is the revision. It is for trusted scripts alone: a
   * game's folder may hold any number of other files, and packages are found as Node.js finds them.
   */
  | { readonly by: 'engine' }

export type Engine = Program & {
  readonly files: FileReading
  /** The optional dependency that it is made of. */
  readonly package?: string
  /** Whether a debugger may attach to its workers. */
  readonly hasInspector?: true
  /** Whether its workers begin with a memory that has been made before (see engine-image.ts). */
  readonly hasImage?: true
  /** The least `runtime.memory_mb` that it can do with. */
  readonly memoryMbMin?: number
}

type Guest = Pick<Engine, 'hasImage' | 'memoryMbMin'> & {
  readonly entry: URL
  readonly package: string
  readonly files: FilesOfLanguage
  /** Flags of its own. */
  readonly flags?: readonly string[]
}

/** An engine that runs its guest inside of WebAssembly, on files that the node hands over. */
export function guestEngine({ entry, package: name, files, flags = [], ...more }: Guest): Engine {
  return {
    entry,
    package: name,
    execArgv: (places) => [...guestFlags(entry, places), ...flags],
    files: { by: 'node', ...files },
    ...more,
  }
}

const hostHeapMb = 256

/**
 * What the process of a guest is started with: it reads its own program and the package of its
 * engine, writes nothing, starts no process and makes no code out of texts. This is a belt around
 * the process and not the sandbox: Node.js does not forbid sockets so. `--allow-worker` is for the
 * watchdog, without which the process ends at its start.
 */
function guestFlags(entry: URL, { packageDir, imageFile }: EnginePlaces): string[] {
  const image = imageFile === '' ? [] : [imageFile]
  const readable = [...programFolders(entry), `${packageDir}/`, ...image]
  return [
    '--permission',
    '--allow-worker',
    // What the script has is bounded in its engine; this is for the host's own code.
    `--max-old-space-size=${hostHeapMb}`,
    // It warns of that flag at every start.
    '--disable-warning=PERM0006',
    '--disallow-code-generation-from-strings',
    ...readable.map((folder) => `--allow-fs-read=${folder}`),
  ]
}

/** Where the modules of a program lie: beside it once it is built, else all over the sources. */
function programFolders(entry: URL): string[] {
  const isBuilt = entry.pathname.endsWith('.mjs')
  const folders = isBuilt ? ['.'] : [`${toRoot}packages/`, `${toRoot}node_modules/`]
  return folders.map((folder) => fileURLToPath(new URL(folder, entry)))
}

/** From `packages/server/src/script/worker/engines/lua/main.ts`. */
const toRoot = '../'.repeat(7)
