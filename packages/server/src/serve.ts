import type { Writable } from 'node:stream'
import { controlPathOf } from './cli/control.ts'
import type { ServeOptions } from './cli/run-command.ts'
import { exitCodes, printLines } from './cli/terminal.ts'
import { farewellLine, welcomeLines } from './cli/welcome.ts'
import type { LoadedConfig } from './config/load.ts'
import { configOfProcess } from './config/processes.ts'
import type { Config } from './config/schema.ts'
import { DatabaseUnavailable, DatabaseUnfit } from './database/database.ts'
import { NodeIdInUse } from './database/jobs/node-claim.ts'
import { SchemaNotUsable } from './database/migrations/migrate.ts'
import { DatabaseInUse } from './database/sqlite/file/file-lock.ts'
import { type Clock, createSystemClock } from './kernel/clock.ts'
import { BusUnfit } from './kernel/cluster/bus.ts'
import { ClusterMismatch } from './kernel/cluster/membership.ts'
import {
  type ControlHandlers,
  type ControlServer,
  openControl,
} from './kernel/control/control-server.ts'
import { AddressRefused } from './kernel/errors/address-refused.ts'
import { reasonOf } from './kernel/errors/reason.ts'
import { keepCompiled } from './kernel/host/compiled-scripts.ts'
import { CertificateUnfit } from './kernel/http/connection/certificates.ts'
import { newBootId } from './kernel/ids.ts'
import type { Log } from './kernel/log/log.ts'
import { ClockUnfit } from './kernel/time/clock-watch.ts'
import { within } from './kernel/time/within.ts'
import { type RunningNode, StartCancelled, startNode } from './node/node.ts'
import { whenLeftByNpm } from './processes/left-by-npm.ts'
import type { ReadyFacts } from './processes/messages.ts'
import type { ParentLine } from './processes/parent-line.ts'
import { logConfig, openProcessLog } from './processes/process-log.ts'
import { printReadyLine } from './processes/ready-line.ts'
import type { EarlyProcess } from './script/process/engine-process.ts'
import { ScriptLoadError } from './script/process/load-error.ts'
import { version } from './version.ts'

/** An uncaught error ends the node in order, but not at leisure, in milliseconds. */
const crashDeadlineMs = 5000
/** How long the readers of standard output and error may take for the last lines. */
const lastLinesMs = 500

export type NodeProcess = ServeOptions & {
  /** Of one of several processes: it says there what a node alone says to a person. */
  parent?: ParentLine | undefined
  /** The script's process, begun beside the node; it ends with it. */
  early?: EarlyProcess | undefined
}

/**
 * Runs a node until a signal or an uncaught error ends it; resolves to the exit code. The process
 * must then exit by force: what was abandoned at the deadline may be running still.
 */
export async function serve(
  configured: LoadedConfig,
  host: NodeJS.Process,
  { log: isAsked, parent, early }: NodeProcess,
): Promise<number> {
  const loaded = parent ? configOfBegin(configured, parent.begin) : configured
  const { config } = loaded
  const clock = createSystemClock()
  const bootId = newBootId()
  const opened = openProcessLog(loaded, { clock, bootId, isAsked, stderr: host.stderr })
  const { writer } = opened
  const isForPerson = opened.isForPerson && parent === undefined
  const { log } = writer
  if (parent === undefined) logConfig(loaded, log)
  let node: RunningNode | undefined
  let control: ControlServer | undefined
  const drain = new AbortController()
  const draining = { isUnderWay: false, end: () => drain.abort() }
  const ending = firstEnding(host, clock, { draining, parent })
  try {
    const cancel = new AbortController()
    void ending.then(() => cancel.abort())
    host.on('SIGHUP', () => {
      void node?.reloadCertificates()
      void node?.reloadScript()
    })
    // The reader of the ready line may be gone: that is no reason not to serve.
    host.stdout.on('error', () => undefined)
    node = await startNode({
      ...{ loaded, clock, log, bootId, version, environment: host.env, signal: cancel.signal },
      ...{ logLinesDropped: writer.linesDropped, development: parent?.certificate, early },
    })
    control = await openControl(
      controlPathOf({ ...configured.config, server: config.server }),
      commandsOf(node),
      log.component('control'),
    )
    writer.flush()
    const facts = readyFacts(node, { config, bootId })
    sayReady(facts, { config, host, parent })
    if (isForPerson) printLines(host.stderr, welcomeLines({ ...node, config, version }))
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
    early?.end()
    await control?.close()
    writer.flush()
    await Promise.all([host.stdout, host.stderr].map((stream) => handedOn(stream, clock)))
  }
}

function configOfBegin(configured: LoadedConfig, { number, binds }: ParentLine['begin']) {
  return configOfProcess(configured, number, binds)
}

function readyFacts(
  { url, transportAddresses, backend, entrypoint }: RunningNode,
  { config, bootId }: { config: Config; bootId: string },
): ReadyFacts {
  const ids = { node_id: config.server.node_id, boot_id: bootId }
  return { url, transportAddresses, backend, entrypoint, ...ids }
}

type Listeners = { config: Config; host: NodeJS.Process; parent: ParentLine | undefined }

function sayReady(facts: ReadyFacts, { config, host, parent }: Listeners): void {
  if (parent === undefined) printReadyLine(facts, config.logging, host.stdout)
  else parent.ready(facts)
  keepCompiled()
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

type Listened = { draining: Draining; parent: ParentLine | undefined }

/** Resolves at the first signal or uncaught error; a second signal ends the process at once. */
function firstEnding(
  host: NodeJS.Process,
  clock: Clock,
  { draining, parent }: Listened,
): Promise<Ending> {
  return new Promise((resolve) => {
    const atMs = () => clock.monotonicMs()
    const crashed = (category: CrashCategory) => (crash: unknown) =>
      resolve({ atMs: atMs(), crash, category })
    let signalled = false
    const asked = (signal: NodeJS.Signals) => {
      if (draining.isUnderWay) {
        draining.end()
        return
      }
      if (signalled) host.exit(128 + (signal === 'SIGTERM' ? 15 : 2))
      signalled = true
      resolve({ atMs: atMs(), signal })
    }
    // A terminal or a service manager may send one signal to the parent and to its processes.
    const counts = { own: 0, passedOn: 0 }
    const heard = (by: keyof typeof counts) => (signal: NodeJS.Signals) => {
      const before = Math.max(counts.own, counts.passedOn)
      counts[by] += 1
      if (counts[by] > before) asked(signal)
    }
    for (const signal of ['SIGTERM', 'SIGINT'] as const) host.on(signal, heard('own'))
    parent?.onSignal(heard('passedOn'))
    const left = () => resolve({ atMs: atMs(), signal: 'SIGTERM' })
    parent?.onLeft(left)
    whenLeftByNpm(host, clock, left)
    host.on('uncaughtException', crashed('uncaught_exception'))
    host.on('unhandledRejection', crashed('unhandled_rejection'))
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

/** What an operator can put right: its message says it all, and a stack would only hide it. */
function isForeseen(error: Error): boolean {
  const classes = [
    SchemaNotUsable,
    NodeIdInUse,
    DatabaseInUse,
    DatabaseUnavailable,
    DatabaseUnfit,
    AddressRefused,
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
