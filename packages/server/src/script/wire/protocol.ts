import type { ScriptErrorCode, ScriptTier } from '@guildhall/contract'
import type { ScriptSchedule } from '../../kernel/play/script.ts'
import type { LoadProblem } from '../process/load-error.ts'
import { type Handlers, isHookName, type RoomDefinitionSummary } from './hooks.ts'
import type { ScriptFile } from './revision.ts'

/** Where a worker has its channel to the node. */
export const channelFd = 3

/** What a worker goes by. */
export type WorkerSettings = {
  /** Absolute path of the scripts folder, without symbolic links. */
  readonly scriptsDir: string
  /** Folders beside it whose files belong to the script as well, as `../NAME/...`. */
  readonly sharedDirs: readonly SharedDir[]
  /** The last folder above it whose packages scripts may import; '' for their own alone. */
  readonly packagesRoot: string
  readonly nodeId: string
  readonly deadlineMs: number
  readonly tickDeadlineMs: number
  readonly callTimeoutMs: number
  readonly memoryMb: number
  /** Of the states of all rooms together, as JSON text. */
  readonly stateBytesMax: number
  readonly tier: ScriptTier
  /** Where the package of the engine lies; empty for the engine of Node.js itself. */
  readonly packageDir: string
  /** What its memory begins with, if it has an image; else empty. */
  readonly imageFile: string
  /** Whether a debugger may attach to it. */
  readonly inspects: boolean
  readonly lines: LineSettings
  /** What the script reads as the time while it loads; absent, its machine's. */
  readonly now?: NodeTime | undefined
}

/** A folder beside that of the script: its name there, and where it is, without symbolic links. */
export type SharedDir = { readonly name: string; readonly folder: string }

/** The time of a node whose clock is moved by hand, in milliseconds. */
export type NodeTime = { readonly unixMs: number; readonly monotonicMs: number }

/** What log.write and match.set_result go by. */
export type LineSettings = {
  /** Whether lines and results are kept. */
  readonly durable: boolean
  readonly payloadBytesMax: number
  /** 4 hex digits of the node and its boot, for ids. */
  readonly idSalt: string
}

export type StartReason = 'boot' | 'reload' | 'restart' | 'rollback'

/**
 * What the node sends: `start` first, which starts the engine. A load with files runs these bytes,
 * whatever the folder holds.
 */
export type ToWorker =
  | { readonly type: 'start'; readonly settings: WorkerSettings }
  | {
      readonly type: 'load'
      readonly entry: string
      readonly generation: number
      readonly files: readonly ScriptFile[] | undefined
    }
  | CallBatch
  | { readonly type: 'ping'; readonly n: number }
  | { readonly type: 'profile'; readonly durationMs: number }
  /** Whether a debugger is attached. */
  | { readonly type: 'debug'; readonly attached: boolean }
  | { readonly type: 'stop' }

/** Calls as records at the start of `buffer`, their bodies behind them (see call-records.ts). */
export type CallBatch = {
  readonly type: 'batch'
  readonly calls: number
  readonly buffer: ArrayBuffer
  readonly texts: readonly (string | null)[]
  readonly results: readonly HostResult[]
  /** The time from here on, of a node whose clock is moved by hand. */
  readonly now?: NodeTime | undefined
}

/** The answer to a host call. Bytes that the node keeps may be replied with by its number. */
export type HostResult =
  | { readonly id: number; readonly ok: true; readonly value: unknown; readonly kept?: true }
  | ({ readonly id: number; readonly ok: false } & Refusal)

/** An error that the script reads. */
export type Refusal = {
  readonly code: ScriptErrorCode
  readonly message: string
  /** Of a call of several operations: which one failed first. */
  readonly index?: number
  /** Of an `http_error`: which rule. */
  readonly reason?: string
}

/** A function of the node that the script waits for, such as `session_list`. */
export type HostCall = {
  readonly id: number
  readonly invocation: number
  /** The room it runs in; a tick's call is one for many rooms. */
  readonly room_id: number | null
  readonly name: string
  readonly args: readonly unknown[]
}

/** A call that nothing waits for any more: it stops, if it is one that can. */
export type StoppedCall = Pick<HostCall, 'id' | 'invocation'>

/** What a worker sends. */
export type FromWorker =
  /** With the port of its inspector, if it has one. */
  | {
      readonly type: 'online'
      readonly protocol: string
      readonly inspectorPort: number | undefined
    }
  /** It knows that a debugger is attached, or no longer is. */
  | { readonly type: 'debugged' }
  /**
   * A local file that an engine has asked for itself, with its bytes if it is there; sent when it
   * is asked for, so that also those of a script that never ends loading are known.
   */
  | { readonly type: 'asked'; readonly path: string; readonly bytes: Uint8Array | undefined }
  | { readonly type: 'loaded'; readonly handlers: Handlers }
  | ({ readonly type: 'load_failed' } & LoadProblem)
  | OutputBatch
  | { readonly type: 'pong'; readonly n: number }
  /** The text of a .cpuprofile; undefined of an engine that has none. */
  | { readonly type: 'profiled'; readonly profile: string | undefined }
  | {
      readonly type: 'print'
      readonly level: PrintLevel
      readonly text: string
      readonly omitted: number
    }

/** Commands and outcomes as records, their bodies before them (see output-records.ts). */
export type OutputBatch = {
  readonly type: 'batch'
  /** How many call batches this one answers: their calls have all been started. */
  readonly answered: number
  /** How many 64-bit floats of `buffer` are records. */
  readonly words: number
  readonly buffer: ArrayBuffer
  readonly texts: readonly string[]
  readonly calls: readonly HostCall[]
  /** Calls of earlier batches. */
  readonly stopped: readonly StoppedCall[]
}

export const printLevels = ['trace', 'debug', 'info', 'warn', 'error'] as const
export type PrintLevel = (typeof printLevels)[number]

/**
 * Checks the shape of a message of the worker: undefined for anything unexpected. The script can
 * reach the port in the trusted tier, so nothing that arrives on it is believed.
 */
export function parseFromWorker(message: unknown): FromWorker | undefined {
  if (!isRecord(message)) return undefined
  switch (message.type) {
    case 'online':
      return parseOnline(message)
    case 'debugged':
      return { type: 'debugged' }
    case 'asked':
      return parseAsked(message)
    case 'loaded':
      return parseLoaded(message)
    case 'load_failed':
      return parseLoadFailed(message)
    case 'batch':
      return parseOutputBatch(message)
    case 'pong':
      return isCount(message.n) ? { type: 'pong', n: message.n } : undefined
    case 'profiled':
      return parseProfiled(message)
    case 'print':
      return parsePrint(message)
    default:
      return undefined
  }
}

function parseOnline({ protocol, inspectorPort }: Untrusted): FromWorker | undefined {
  if (inspectorPort !== undefined && !isCount(inspectorPort)) return undefined
  return { type: 'online', protocol: isString(protocol) ? protocol : '', inspectorPort }
}

function parseAsked({ path, bytes }: Untrusted): FromWorker | undefined {
  if (!isString(path) || !isBelow(path)) return undefined
  if (bytes !== undefined && !(bytes instanceof Uint8Array)) return undefined
  return { type: 'asked', path, bytes }
}

/** Whether a path stays in the folder that it is relative to, or leads into one beside it. */
function isBelow(path: string): boolean {
  const below = path.replace(/^\.\.\/(?=.*\/)/, '')
  return below !== '' && !below.startsWith('/') && !below.split('/').includes('..')
}

function parseLoaded({ handlers }: Untrusted): FromWorker | undefined {
  if (!isRecord(handlers)) return undefined
  const { rpcs, message_kinds, hooks, filters, schedules, rooms } = handlers
  if (!isArrayOf(rpcs, isString) || !isArrayOf(hooks, isHookName)) return undefined
  if (!isArrayOf(filters, isString) || !isArrayOf(rooms, isDefinition)) return undefined
  if (!isArrayOf(message_kinds, isCount) || !isArrayOf(schedules, isSchedule)) return undefined
  return { type: 'loaded', handlers: { rpcs, message_kinds, hooks, filters, schedules, rooms } }
}

function parseLoadFailed({ message, file, line }: Untrusted): FromWorker | undefined {
  if (!isString(message)) return undefined
  if (file !== undefined && !isString(file)) return undefined
  if (line !== undefined && !isCount(line)) return undefined
  return { type: 'load_failed', message, file, line }
}

function parseOutputBatch(message: Untrusted): FromWorker | undefined {
  const { answered, words, buffer, texts, calls, stopped } = message
  if (!isCount(answered) || !isCount(words) || !(buffer instanceof ArrayBuffer)) return undefined
  if (words * 8 > buffer.byteLength || buffer.byteLength % 8 !== 0) return undefined
  if (!isArrayOf(texts, isString) || !isArrayOf(calls, isHostCall)) return undefined
  if (!isArrayOf(stopped, isStoppedCall)) return undefined
  return { type: 'batch', answered, words, buffer, texts, calls, stopped }
}

function parseProfiled({ profile }: Untrusted): FromWorker | undefined {
  if (profile !== undefined && !isString(profile)) return undefined
  return { type: 'profiled', profile }
}

function parsePrint({ level, text, omitted }: Untrusted): FromWorker | undefined {
  const known = printLevels.find((name) => name === level)
  if (!known || !isString(text) || !isCount(omitted)) return undefined
  return { type: 'print', level: known, text, omitted }
}

/** An object that may have any of the fields, with any values. */
type Untrusted = { readonly [name in FieldName]?: unknown }
type FieldName =
  | keyof Handlers
  | keyof LoadProblem
  | keyof OutputBatch
  | keyof HostCall
  | keyof ScriptFile
  | keyof RoomDefinitionSummary
  | keyof ScriptSchedule
  | 'n'
  | 'level'
  | 'text'
  | 'omitted'
  | 'handlers'
  | 'profile'
  | 'inspectorPort'
  | 'protocol'

function isRecord(value: unknown): value is Untrusted {
  return typeof value === 'object' && value !== null
}

function isString(value: unknown): value is string {
  return typeof value === 'string'
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

/** Ends at the first hole: an array may say any length, and have nothing. */
function isArrayOf<T>(value: unknown, is: (item: unknown) => item is T): value is T[] {
  if (!Array.isArray(value)) return false
  for (let n = 0; n < value.length; n += 1) if (!is(value[n])) return false
  return true
}

function isDefinition(value: unknown): value is RoomDefinitionSummary {
  if (!isRecord(value) || !isString(value.name) || !isCount(value.tick_hz)) return false
  return isArrayOf(value.kinds, isCount) && isArrayOf(value.methods, isString)
}

function isSchedule(value: unknown): value is ScriptSchedule {
  return isRecord(value) && isString(value.name) && isString(value.cron)
}

function isStoppedCall(value: unknown): value is StoppedCall {
  return isRecord(value) && isCount(value.id) && isCount(value.invocation)
}

function isHostCall(value: unknown): value is HostCall {
  if (!isRecord(value) || !isCount(value.id) || !isCount(value.invocation)) return false
  if (value.room_id !== null && !isCount(value.room_id)) return false
  return isString(value.name) && Array.isArray(value.args)
}
