import type { Writable } from 'node:stream'
import { controlPathOf } from './cli/control.ts'
import type { ServeOptions } from './cli/run-command.ts'
import { exitCodes, printLines, type TextOutput } from './cli/terminal.ts'
import { farewellLine, welcomeLines } from './cli/welcome.ts'
import { BusUnfit } from './cluster/bus/postgres-bus.ts'
import type { LoadedConfig } from './config/load.ts'
import type { Config } from './config/schema.ts'
import { DatabaseUnavailable } from './database/database.ts'
import { NodeIdInUse } from './database/jobs/node-claim.ts'
import { SchemaNotUsable } from './database/migrations/migrate.ts'
import { DatabaseUnfit } from './database/postgres/connections/start.ts'
import { DatabaseInUse } from './database/sqlite/file/file-lock.ts'
import { type Clock, createSystemClock } from './kernel/clock.ts'
import { ClusterMismatch } from './kernel/cluster/membership.ts'
import {
  type ControlHandlers,
  type ControlServer,
  openControl,
} from './kernel/control/control-server.ts'
import { reasonOf } from './kernel/errors/reason.ts'
import { CertificateUnfit } from './kernel/http/connection/certificates.ts'
import { newBootId } from './kernel/ids.ts'
import type { Log } from './kernel/log/log.ts'
import type { LogFormat } from './kernel/log/log-lines.ts'
import {
  createLog,
  createStreamSink,
  type LogLevels,
  type LogWriter,
  parseLogLevels,
} from './kernel/log/log-writer.ts'
import { ClockUnfit } from './kernel/time/clock-watch.ts'
import { within } from './kernel/time/within.ts'
import { type RunningNode, StartCancelled, startNode } from './node/node.ts'
import { ScriptLoadError } from './script/process/load-error.ts'
import { version } from './version.ts'

/** An uncaught error ends the node in order, but not at leisure, in milliseconds. */
const crashDeadlineMs = 5000
/** How often a node that npm started looks whether npm is still there, in milliseconds. */
const parentLookMs = 500
/** How long the readers of standard output and error may take for the last lines. */
const lastLinesMs = 500

/**
 * Runs a node until a signal or an uncaught error ends it; resolves to the exit code. The process
 * must then exit by force: what was abandoned at the deadline may be running still.
 */
export async function serve(
  loaded: LoadedConfig,
  host: NodeJS.Process,
  options: ServeOptions,
): Promise<number> {
  const { config } = loaded
  const clock = createSystemClock()
  const bootId = newBootId()
  const isForPerson = !options.log && isLogLeftOut(loaded)
  const levels = isForPerson ? levelsForPerson : parseLogLevels(config.logging.level)
  const format = isForPerson ? 'person' : config.logging.format
  const writer = openLog(config, { levels, format, clock, bootId, stderr: host.stderr })
  const { log } = writer
  for (const warning of loaded.warnings) log.warn(warning)
  for (const name of loaded.ignored_environment) {
    log.debug('an environment variable means nothing here', { variable: name })
  }
  let node: RunningNode | undefined
  let control: ControlServer | undefined
  const drain = new AbortController()
  const draining = { isUnderWay: false, end: () => drain.abort() }
  const ending = firstEnding(host, clock, draining)
  try {
    const cancel = new AbortController()
    void ending.then(() => cancel.abort())
    host.on('SIGHUP', () => {
      void node?.reloadCertificates()
      void node?.reloadScript()
    })
    // Whoever reads the ready line may be gone: that is no reason not to serve.
    host.stdout.on('error', () => undefined)
    const { signal } = cancel
    const { env: environment } = host
    const logLinesDropped = writer.linesDropped
    const process = { loaded, clock, log, bootId, version, environment, signal }
    node = await startNode({ ...process, logLinesDropped })
    control = await openControl(controlPathOf(config), commandsOf(node), log.component('control'))
    writer.flush()
    announce(node, { loaded, bootId, stdout: host.stdout })
    if (isForPerson) {
      printLines(host.stderr, welcomeLines({ ...node, config, version }))
    }
    const end = await ending
    if (isForPerson && 'signal' in end) printLines(host.stderr, [farewellLine])
    if ('signal' in end) {
      draining.isUnderWay = true
      await node.drain(drain.signal)
      draining.isUnderWay = false
      end.atMs = clock.monotonicMs()
    }
    return await stop(node, end, { log, clock, limits: config.shutdown })
  } catch (error) {
    if (error instanceof StartCancelled) return endOfStart(await ending, log)
    if (node !== undefined || !(error instanceof Error)) throw error
    const fields = isForeseen(error) ? { reason: reasonOf(error) } : { error }
    log.error('the node could not start', fields)
    return exitCodeOf(error)
  } finally {
    await control?.close()
    writer.flush()
    await Promise.all([host.stdout, host.stderr].map((stream) => handedOn(stream, clock)))
  }
}

/** What commands of this machine may ask of it. */
function commandsOf(node: RunningNode): ControlHandlers {
  return {
    reload: () => node.reloadScript(),
    profile: (argument) => {
      const asked = typeof argument === 'object' && argument !== null ? argument : {}
      const seconds = 'seconds' in asked ? Number(asked.seconds) : Number.NaN
      if (!(seconds >= 1 && seconds <= 600)) throw new Error('seconds must be 1..600')
      return node.profileScript(seconds * 1000)
    },
  }
}

/** What ends a node, and when it came: the deadline counts from there. */
type Ending = { atMs: number } & (
  | { signal: NodeJS.Signals }
  | { crash: unknown; category: CrashCategory }
)
type CrashCategory = 'uncaught_exception' | 'unhandled_rejection'

/** While the node waits for its rooms to end, a second signal ends the wait. */
type Draining = { isUnderWay: boolean; end(): void }

/** Resolves at the first signal or uncaught error; a second signal ends the process at once. */
function firstEnding(host: NodeJS.Process, clock: Clock, draining: Draining): Promise<Ending> {
  return new Promise((resolve) => {
    const atMs = () => clock.monotonicMs()
    const crashed = (category: CrashCategory) => (crash: unknown) =>
      resolve({ atMs: atMs(), crash, category })
    let signalled = false
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      host.on(signal, () => {
        if (draining.isUnderWay) {
          draining.end()
          return
        }
        if (signalled) host.exit(128 + (signal === 'SIGTERM' ? 15 : 2))
        signalled = true
        resolve({ atMs: atMs(), signal })
      })
    }
    whenLeftByNpm(host, clock, () => resolve({ atMs: atMs(), signal: 'SIGTERM' }))
    host.on('uncaughtException', crashed('uncaught_exception'))
    host.on('unhandledRejection', crashed('unhandled_rejection'))
  })
}

/**
 * npm hands a SIGTERM on to the shell that it started the node with, and both end without the node:
 * that they are gone is all that it gets to know of it.
 */
function whenLeftByNpm(host: NodeJS.Process, clock: Clock, onLeft: () => void): void {
  if (host.env.npm_lifecycle_event === undefined) return
  const { ppid } = host
  const watch = clock.every(parentLookMs, () => {
    if (host.ppid === ppid) return
    watch.cancel()
    onLeft()
  })
}

async function stop(
  node: RunningNode,
  end: Ending,
  { log, clock, limits }: { log: Log; clock: Clock; limits: Config['shutdown'] },
): Promise<number> {
  const leftMs = (deadlineMs: number) => Math.max(0, end.atMs + deadlineMs - clock.monotonicMs())
  if ('signal' in end) {
    log.info('stopping', { signal: end.signal })
    const deadlineMs = leftMs(limits.deadline_ms)
    const clean = await node.stop({ deadlineMs, drainDelayMs: limits.drain_delay_ms })
    return clean ? exitCodes.ok : exitCodes.failure
  }
  node.journal.record({ category: end.category, component: 'node', error: end.crash })
  const deadlineMs = leftMs(Math.min(limits.deadline_ms, crashDeadlineMs))
  await node.stop({ deadlineMs, drainDelayMs: 0 })
  return exitCodes.failure
}

/** The exit code of a node that was ended before it was ready. */
function endOfStart(end: Ending, log: Log): number {
  if ('signal' in end) {
    log.info('stopped during the start', { signal: end.signal })
    return exitCodes.ok
  }
  log.error('the node could not start', { error: end.crash })
  return exitCodes.failure
}

/** Waits until the reader of a stream has what was written, or has had time enough. */
async function handedOn(stream: Writable, clock: Clock): Promise<void> {
  const taken = new Promise<void>((resolve) => {
    if (!stream.writable || stream.writableLength === 0) resolve()
    else stream.write('', () => resolve())
  })
  await within(clock, lastLinesMs, taken)
}

/** What a person sees of the log: faults, and what becomes of the game's script. */
const levelsForPerson: LogLevels = {
  standard: 'warn',
  components: new Map([['script', 'info']]),
}

/** Whoever sets a level or reads JSON has asked for the log. */
function isLogLeftOut({ config, sources }: LoadedConfig): boolean {
  const isLevelSet = sources.get('logging.level')?.layer !== 'default'
  return config.logging.format === 'pretty' && !isLevelSet
}

type LogParts = {
  levels: LogLevels | undefined
  format: LogFormat
  clock: Clock
  bootId: string
  stderr: NodeJS.WriteStream
}

function openLog(config: Config, { levels, stderr, ...parts }: LogParts): LogWriter {
  if (levels === undefined) throw new Error('logging.level was checked when it was loaded')
  return createLog({
    ...parts,
    levels,
    nodeId: config.server.node_id,
    write: createStreamSink(stderr),
  })
}

/** The one line on standard output, with the real port. */
function announce(
  { url, backend, transportAddresses }: RunningNode,
  { loaded, bootId, stdout }: { loaded: LoadedConfig; bootId: string; stdout: TextOutput },
): void {
  const { logging, server } = loaded.config
  const { node_id } = server
  const facts = { http: url, ...transportAddresses, backend, node_id, boot_id: bootId }
  const line =
    logging.format === 'json'
      ? JSON.stringify({ event: 'ready', version, ...facts })
      : `guildhall ${version} ready ${Object.entries(facts)
          .map(([name, value]) => `${name}=${value}`)
          .join(' ')}`
  printLines(stdout, [line])
}

/** What an operator can put right: its message says it all, and a stack would only hide it. */
function isForeseen(error: Error): boolean {
  const classes = [
    SchemaNotUsable,
    NodeIdInUse,
    DatabaseInUse,
    DatabaseUnavailable,
    DatabaseUnfit,
    CertificateUnfit,
    ClockUnfit,
    ScriptLoadError,
    ClusterMismatch,
    BusUnfit,
  ]
  return classes.some((known) => error instanceof known) || 'syscall' in error
}

function exitCodeOf(error: Error): number {
  if (error instanceof ClusterMismatch) return exitCodes.configuration
  if (error instanceof SchemaNotUsable) return exitCodes.schemaNotUsable
  if (error instanceof NodeIdInUse || error instanceof DatabaseInUse) return exitCodes.inUse
  return exitCodes.failure
}
