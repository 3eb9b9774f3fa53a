import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { type Clock, createSystemClock } from '../kernel/clock.ts'
import { createErrorJournal } from '../kernel/errors/error-journal.ts'
import { createRecordedLog } from '../kernel/log/log.fake.ts'
import type { CallContext } from '../kernel/play/calls.ts'
import type { Delivery } from '../kernel/play/delivery.ts'
import type { ScriptConfig } from './config.ts'
import { createScriptHost, type ScriptHostDeps } from './host.ts'
import { type HostFunctions, noPorts, type ScriptPorts } from './ports.ts'
import type { startEarly } from './process/engine-process.ts'

/** What a test hands to the host; the script's files by their path. */
export type HarnessOptions = {
  files?: { [path: string]: string | Uint8Array }
  config?: Partial<ScriptConfig>
  /** The folder of these files that has the script; all of them, unless given. */
  scriptsIn?: string
  packagesRoot?: string
  inspectAt?: ScriptHostDeps['inspectAt']
  environment?: NodeJS.ProcessEnv
  early?: typeof startEarly
  functions?: HostFunctions
  rooms?: ScriptPorts['rooms']
  states?: Partial<ScriptPorts['states']>
  lines?: ScriptHostDeps['lines']
  stateBytesMax?: ScriptHostDeps['stateBytesMax']
  setIndexFilter?: ScriptHostDeps['setIndexFilter']
  serveSchedules?: ScriptHostDeps['serveSchedules']
  /** The game's clock where a test moves it. */
  gameClock?: Clock
}

/** A host with a real worker, a script in a folder of its own, and a delivery that writes down. */
export type Harness = ReturnType<typeof createHarness>

export type Delivered = {
  to: 'broadcast' | 'send'
  kind: number
  text: string
  bytes: number[]
  unreliable: boolean
  sender?: number
  room_id?: number | null
  topic?: string
  except?: number[]
  participants?: number[]
}

const defaults: ScriptConfig = {
  enabled: true,
  require_script: false,
  tier: 'trusted',
  scripts_dir: '',
  shared_dirs: [],
  deadline_ms: 1000,
  call_timeout_ms: 20_000,
  load_timeout_ms: 20_000,
  tick_hz: 0,
  hot_reload: false,
  hot_reload_poll_ms: 50,
  hand_over_ms: 1_000,
  reload_drain_ms: 300_000,
  memory_mb: 64,
  inbox_calls: 8192,
  inbox_bytes: 16_777_216,
  restart_limit: 5,
  restart_backoff_ms: 10,
  restart_backoff_max_ms: 100,
}

/** As `vi.waitFor` waits. */
const patienceMs = 30_000

/** Where workers keep what was compiled of their program: a seventh of a start. */
const compiled = { NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache') }

export function createHarness(options: HarnessOptions) {
  const { files = {}, config = {}, environment = compiled, functions = {} } = options
  const { rooms, states, lines, setIndexFilter, serveSchedules, packagesRoot, inspectAt } = options
  const { stateBytesMax } = options
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-script-'))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const log = createRecordedLog()
  const clock = createSystemClock()
  const bounds = { max_bytes: 65_536, max_entries: 100 }
  const journal = createErrorJournal({ clock, log, bounds })
  const delivered: Delivered[] = []
  const sessions: Awaited<ReturnType<Delivery['sessions']>> = []
  const scripts_dir = join(folder, options.scriptsIn ?? '')
  const whole = { ...defaults, scripts_dir, ...config }
  const made = createScriptHost({
    config: whole,
    early: options.early?.(whole, environment, clock),
    clock: options.gameClock ?? clock,
    processClock: options.gameClock && clock,
    log,
    journal,
    nodeId: 'node-1',
    packagesRoot,
    inspectAt,
    environment,
    ...(lines ? { lines } : {}),
    ...(stateBytesMax ? { stateBytesMax } : {}),
    ...(setIndexFilter ? { setIndexFilter } : {}),
    ...(serveSchedules ? { serveSchedules } : {}),
  })
  const ports: ScriptPorts = {
    delivery: writeDown(delivered),
    functions: { session_list: () => sessions, ...functions },
    rooms: rooms ?? noPorts.rooms,
    states: { ...noPorts.states, ...states },
  }
  const host = { ...made, start: () => made.start(ports) }

  const rpc = async (method: string, payload = '', about: CallContext = player(1)) => {
    const outcome = await host.game.rpc(about, method, new TextEncoder().encode(payload))
    return outcome.ok ? new TextDecoder().decode(outcome.reply) : { error: outcome.error }
  }

  return {
    folder,
    host,
    log,
    journal,
    clock,
    delivered,
    sessions,
    rpc,
    /** Sends a message and waits until it has settled. */
    message: (kind: number, text = '', about: CallContext = player(1)) =>
      new Promise<string>((resolve) => {
        const body = new TextEncoder().encode(text)
        host.game.message(about, { kind, body, unreliable: false }, resolve)
      }),
    /** Waits for something that is bound to happen, and says what has not. */
    async until(condition: () => boolean): Promise<void> {
      const endMs = clock.monotonicMs() + patienceMs
      while (!condition()) {
        if (clock.monotonicMs() > endMs) throw new Error(`not so after 30 s: ${condition}`)
        await clock.sleep(5)
      }
    },
    lines: (level: string) => log.lines.filter((line) => line.level === level),
    async close(): Promise<void> {
      await host.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A host that ends with its test. */
export function openHarness(options: HarnessOptions): Harness {
  const harness = createHarness(options)
  onTestFinished(() => harness.close())
  return harness
}

/** The same, with its script loaded. */
export async function startHarness(options: HarnessOptions): Promise<Harness> {
  const harness = openHarness(options)
  await harness.host.start()
  return harness
}

/** The same for all tests of a file or a group: its worker is started once. */
export function shareHarness(options: HarnessOptions): () => Harness {
  let harness: Harness | undefined
  beforeAll(async () => {
    harness = createHarness(options)
    await harness.host.start()
  })
  afterAll(() => harness?.close())
  return () => {
    if (!harness) throw new Error('the script has not started')
    return harness
  }
}

/** A player in no room. */
export function player(participant: number, more: Partial<CallContext> = {}): CallContext {
  return {
    participant,
    user_id: `user-${participant}`,
    username: `name-${participant}`,
    room_id: null,
    match_id: null,
    ...more,
  }
}

function writeDown(delivered: Delivered[]): Pick<Delivery, 'broadcast' | 'send'> {
  const message = (m: { kind: number; body: Uint8Array; unreliable: boolean }) => ({
    kind: m.kind,
    text: new TextDecoder().decode(m.body),
    bytes: [...m.body],
    unreliable: m.unreliable,
  })
  return {
    broadcast({ sender, room_id, except, topic, ...m }) {
      const to = topic === undefined ? {} : { topic }
      const scope = { sender, room_id, except: [...except], ...to }
      delivered.push({ to: 'broadcast', ...message(m), ...scope })
    },
    send({ participants, ...m }) {
      delivered.push({ to: 'send', ...message(m), participants: [...participants] })
    },
  }
}
