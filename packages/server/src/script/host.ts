import type { Clock } from '../kernel/clock.ts'
import type { ErrorJournal } from '../kernel/errors/error-journal.ts'
import type { Log } from '../kernel/log/log.ts'
import { nobody } from '../kernel/play/calls.ts'
import type {
  EventHook,
  IndexFilterPort,
  SchedulesPort,
  ScriptSchedule,
} from '../kernel/play/script.ts'
import type { Outcome } from './calls.ts'
import type { ScriptConfig } from './config.ts'
import { createHostCallAnswerer } from './functions/host-calls.ts'
import { createGame } from './hooks/game.ts'
import { createIndexFilters } from './hooks/index-filters.ts'
import { createRoomBindings } from './hooks/room-bindings.ts'
import { createRpc } from './hooks/rpc.ts'
import { createStateRooms, type StateRooms } from './hooks/state-rooms.ts'
import { createInbox } from './inbox.ts'
import { Lifecycle } from './lifecycle.ts'
import { createScriptMetrics, describeMetrics } from './metrics.ts'
import { noPorts, type ScriptPorts } from './ports.ts'
import type { EarlyProcess } from './process/engine-process.ts'
import { gateIsOpen } from './readiness.ts'
import { createActivations } from './reload/activations.ts'
import { Router } from './serving/router.ts'
import { type ServingDeps, ServingScript } from './serving/serving-script.ts'
import { createTicker } from './timers/ticker.ts'
import { createFailuresView } from './view/failures-view.ts'
import { describeRuntime } from './view/runtime-view.ts'
import { type Handlers, hookCode } from './wire/hooks.ts'
import type { LineSettings, NodeTime } from './wire/protocol.ts'

export type ScriptHostDeps = {
  config: ScriptConfig
  clock: Clock
  /**
   * The clock by which the worker process is watched, when `clock` is moved by hand; the script
   * then reads the time of `clock`.
   */
  processClock?: Clock | undefined
  log: Log
  /** Holds the failures of workers. */
  journal: Pick<ErrorJournal, 'record'>
  nodeId: string
  /** How lines of log.write and results of matches are kept; by default they are not. */
  lines?: LineSettings
  /** Of the states of all rooms; by default without a bound. */
  stateBytesMax?: number
  setIndexFilter?: IndexFilterPort
  serveSchedules?: SchedulesPort
  /** Called with the hook of each answered call, and the milliseconds that it took. */
  observeCall?: ((hook: string, durationMs: number) => void) | undefined
  /** The environment that the script may see; names of the node's own are left out of it. */
  environment?: NodeJS.ProcessEnv
  /** A process of the script that was started before its host. */
  early?: EarlyProcess | undefined
  /** Where a debugger attaches, with `inspect` of the configuration. */
  inspectAt?: { readonly host: string; readonly port: number } | undefined
  /** The last folder above the script's whose packages it may import; absent, its own alone. */
  packagesRoot?: string | undefined
}

const noLines: LineSettings = { durable: false, payloadBytesMax: 8192, idSalt: '0000' }
const noFilters: IndexFilterPort = async () => false
const noSchedules: SchedulesPort = () => {}

/** How often open calls are looked at for their timeout. */
const lookEveryMs = 50

/**
 * Runs the game's script in a worker beside the event loop. Nothing that the script does or fails
 * to do stops the node: a failure is counted, logged and answered with a fixed text.
 */
export function createScriptHost(deps: ScriptHostDeps) {
  const { config, clock } = deps
  let ports = noPorts
  const parts = createParts(deps, () => ports)
  const { lifecycle, router, metrics, view, servesNoMore, bindings, stateRooms, ticker } = parts
  const { processClock = clock } = deps
  const looking = processClock.every(lookEveryMs, () => router.lookForOldCalls())

  const callable = { lifecycle, router, stateRooms, ...createGate(lifecycle, config, metrics) }
  const rpc = createRpc(callable)
  const bindsRooms = config.require_script
  const game = createGame({ ...callable, bindings, bindsRooms, view, rpc: rpc.ofPlayer })

  return {
    /** Loads the script; throws a `ScriptLoadError` when there is one that cannot be loaded. */
    async start(given: ScriptPorts): Promise<void> {
      ports = given
      await lifecycle.start()
      ticker.start(ports.rooms.tickRooms)
    },

    /** Loads the script anew, as its files are now. */
    reload: () => lifecycle.reload(),

    /** Where the CPU of the script goes in so many milliseconds. */
    profile: (durationMs: number) => lifecycle.profile(durationMs),

    /** Lets the script say what it has to before the node stops. */
    unload: () => lifecycle.unload(),

    /** What the gateway calls. */
    game,

    /** The console's runtime view. */
    describe: () => describeRuntime(config, lifecycle),

    /** What fails in the script, and what it costs. */
    failures: view.show,

    /** What each handler has used since the node started. */
    cpuSeries: view.cpuSeries,

    /** What the script's processes have used, all that they do for themselves included. */
    cpuSeconds: () => lifecycle.cpuSeconds,

    /** Calls an RPC for an operator. Throws `runtime_unavailable` while the gate is closed. */
    consoleRpc: rpc.ofConsole,

    events: createEvents(router),

    readiness: () => lifecycle.readiness(),

    /** Whether the script has nothing to do until something new comes. */
    isQuiet: () => !lifecycle.isLoading && router.isQuiet,

    metrics: () => describeMetrics(metrics, router.inbox, lifecycle.readiness().state),

    async stop(): Promise<void> {
      looking.cancel()
      ticker.stop()
      servesNoMore()
      view.stop()
      await lifecycle.stop()
    },
  }
}

export type ScriptHost = ReturnType<typeof createScriptHost>

/** What the host is made of. The rest of the node is reached through `ports` from the start on. */
function createParts(deps: ScriptHostDeps, ports: () => ScriptPorts) {
  const { config, clock, nodeId, journal, observeCall, processClock = clock } = deps
  const { environment = {}, lines = noLines, setIndexFilter = noFilters } = deps
  const { stateBytesMax = Number.POSITIVE_INFINITY } = deps
  const { serveSchedules = noSchedules } = deps
  const log = deps.log.component('script')
  const metrics = createScriptMetrics()
  // Somebody is at work on a script that is loaded again as it changes.
  const showsSource = config.hot_reload
  const view = createFailuresView({
    ...{ clock, log, metrics },
    sourceAt: (...place) => (showsSource ? lifecycle.sourceAt(...place) : undefined),
  })
  const bindings = createRoomBindings()
  const inbox = createInbox(config)
  const router: Router = new Router({
    ...{ inbox, ...bindings },
    activating: (script) => stateRooms.restoreAll(script),
    done: (former) => lifecycle.finish(former),
  })
  const stateRooms: StateRooms = createStateRooms({ router, states: () => ports().states })
  const base = { config, clock, processClock, log, metrics, view, router, journal }
  const nodeTime = createNodeTime(deps)
  const filters = createIndexFilters({ ...base, filters: setIndexFilter })
  function servesNoMore(): void {
    filters.end()
    serveSchedules(undefined)
  }
  const wanted = () => [router.active, router.former].some(ticks)
  const ticker = createTicker({ ...base, wanted })
  const lifecycle = new Lifecycle({
    ...{ ...base, nodeId, environment, lines, stateBytesMax, nodeTime },
    packagesRoot: deps.packagesRoot,
    early: deps.early,
    inspectAt: deps.inspectAt,
    activations: createActivations({ ...base, showsSource }),
    createScript: () =>
      createServingScript({
        ...{ ...base, nodeTime, observeCall, ports: ports() },
        stateRoomCount: stateRooms.count,
      }),
    serves(handlers) {
      filters.serve(handlers.filters)
      serveSchedules(handlers.schedules)
      ticker.define(handlers.rooms)
    },
    servesNoMore,
    closeRooms: (generation) => ports().rooms.closeBoundRooms(generation),
  })
  return { lifecycle, router, metrics, view, servesNoMore, bindings, stateRooms, ticker }
}

function ticks(script: ServingScript | undefined): boolean {
  return script?.identity.handlers.hooks.includes('on_tick') ?? false
}

type ServingParts = Omit<ServingDeps, 'inbox' | 'hostCalls' | 'settled'> & {
  config: ScriptConfig
  router: Router
}

/** A script that a worker is about to load. */
function createServingScript({ router, ...parts }: ServingParts): ServingScript {
  const { config, log, ports } = parts
  return new ServingScript({
    ...parts,
    inbox: router.inbox,
    hostCalls: createHostCallAnswerer({ functions: ports.functions, tier: config.tier, log }),
    settled: (script) => router.settled(script),
  })
}

/** What has happened in the deployment, delivered at least once. */
function createEvents(router: Router) {
  return {
    /** Whether an event can be delivered now: a script serves and takes calls. */
    ready: () => router.active !== undefined && !router.inbox.isFull(),
    /**
     * Calls the script, and resolves when its handler has returned; at once when it has none.
     *
     * @param event what the handler is called with, as JSON
     * @throws when the handler fails or the script is lost: the event must be delivered again
     */
    async deliver(hook: EventHook, event: string): Promise<void> {
      const script = router.active
      if (!script) throw new Error('no script serves')
      if (!takes(script.identity.handlers, hook, event)) return
      const { status } = await new Promise<Outcome>((settle) => {
        const call = { hook: hookCode[hook], context: nobody, origin: 'server' } as const
        router.call({ ...call, text: event, settle })
      })
      if (status !== 'ok') throw new Error(`the handler of ${hook} ended as ${status}`)
    },
  }
}

/** @throws for a schedule of another script, whose nodes may take the event */
function takes({ hooks, schedules }: Handlers, hook: EventHook, event: string): boolean {
  if (hook !== 'schedule') return hooks.includes(hook)
  const { name }: ScriptSchedule = JSON.parse(event)
  if (schedules.some((schedule) => schedule.name === name)) return true
  throw new Error('the script that serves here has no schedule of this name')
}

function createNodeTime({ clock, processClock }: ScriptHostDeps): () => NodeTime | undefined {
  if (processClock === undefined) return () => undefined
  return () => ({ unixMs: clock.nowUnixMs(), monotonicMs: clock.monotonicMs() })
}

/** The readiness gate of `require_script`. */
function createGate(
  lifecycle: Lifecycle,
  { require_script }: ScriptConfig,
  metrics: ReturnType<typeof createScriptMetrics>,
) {
  const gateOpen = () => gateIsOpen(lifecycle.readiness().state, require_script)
  /** Whether what needs a ready script may go on; counts where it may not. */
  function admit(): boolean {
    const open = gateOpen()
    if (!open) metrics.gateRejections += 1
    return open
  }
  return { gateOpen, admit }
}
