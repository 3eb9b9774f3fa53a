import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { text as textOf } from 'node:stream/consumers'
import type { RuntimeView } from '@guildhall/contract'
import type { Database } from '../database/database.ts'
import { createLeases } from '../database/jobs/leases.ts'
import type { Feature } from '../features/feature.ts'
import { createFakeClock, type FakeClock } from '../kernel/clock.fake.ts'
import type { OtherNodes } from '../kernel/cluster/other-nodes.ts'
import type { ErrorJournal } from '../kernel/errors/error-journal.ts'
import type { MountedRoute } from '../kernel/http/exchange.ts'
import { createSourceAddress } from '../kernel/http/request/source-address.ts'
import { createHttpServer, type FailedRequest, type HttpServerDeps } from '../kernel/http/server.ts'
import { createIds, newBootId } from '../kernel/ids.ts'
import { createRecordedLog, type RecordedLog } from '../kernel/log/log.fake.ts'
import type { RecordingPlayers } from '../kernel/play/recording.ts'
import { createClockWatch } from '../kernel/time/clock-watch.ts'
import { createFeatures, type Features } from '../node/features/features.ts'
import {
  countersOf,
  type FeatureList,
  joinRoutes,
  prunersOf,
  queuesOf,
  tasksOf,
} from '../node/features/joined.ts'
import { createPlayFeatures, type PlayPorts } from '../node/features/play-features.ts'
import { createPipelineDeps } from '../node/http/pipeline.ts'
import { createConnectedPlayers } from '../realtime/connected-players.ts'
import { testConfig } from './config.ts'
import { createFakePlayers, type FakePlayers } from './players.fake.ts'

export type TestApi = ReturnType<typeof createBackground> & {
  url: string
  clock: FakeClock
  features: Features
  routes: readonly MountedRoute[]
  /** What the server and the features said. */
  log: RecordedLog
  /** Every 5xx and what was thrown; a test that expects none asserts that it is empty. */
  failures: { error: unknown; request: FailedRequest }[]
  /** The sessions that were revoked, in order. */
  revoked: string[]
  players: FakePlayers
  call: Caller
  close(): Promise<void>
}

export type ApiAnswer = {
  status: number
  headers: Headers
  /** The parsed JSON, undefined for anything else; read it with a schema of the contract. */
  body: unknown
  text: string
}

export type Caller = (
  method: string,
  path: string,
  request?: {
    token?: string
    /** Sent as JSON; a string is sent as it is. */
    body?: unknown
    headers?: Record<string, string>
  },
) => Promise<ApiAnswer>

type TestApiOptions = {
  db: Database
  /** Configuration keys that differ from the defaults, e.g. `{ 'console.viewer_password': 'v' }`. */
  config?: Record<string, string>
  clock?: FakeClock
  admissionSecret?: Uint8Array
  /** Whose clients can record for diagnostics; without it nobody's. */
  recording?: RecordingPlayers
  bootId?: string
  /** Which boots are gone; without it the node plays with itself. */
  isBootGone?: (bootId: string) => boolean
  /** The gateway and the script; without it nobody plays. */
  play?: PlayPorts
  /** Takes what goes to the error journal. */
  journal?: Pick<ErrorJournal, 'record'>
  /** Mounted beside those of the features. */
  routes?: readonly MountedRoute[]
  server?: Partial<HttpServerDeps>
}

/** A node that plays with itself. */
const alone: OtherNodes = {
  nodeId: null,
  nodes: () => [],
  serve() {},
  askAll: async () => ({ answers: [], missing: [] }),
  askOwner: async () => undefined,
}

/** No gateway and no script. */
export const nobodyPlays: PlayPorts = {
  gateway: {
    closeSessions() {},
    revalidate: async () => {},
    rooms: async () => [],
    room: async () => undefined,
    members: async () => [],
    savedState: async () => undefined,
    traffic: async () => undefined,
    mayEnd: async () => 'unknown',
    endRoom: async () => 'unknown',
    expelMember: async () => 'unknown',
    matchmaker: () => null,
  },
  script: {
    events: { ready: () => false, deliver: async () => {} },
    game: { admit: () => true },
    describe: () => noRuntime,
    failures: () => ({ items: [], reloads: [], dearest: [] }),
    consoleRpc: async () => ({ ok: false, error: 'no game script' }),
  },
  nodes: alone,
  attached: true,
  journal: { page: () => ({ entries: [], total: 0, next_offset: null }) },
}

const noRuntime: RuntimeView = {
  enabled: false,
  configured_language: null,
  selected_language: null,
  selection_source: null,
  entrypoint: null,
  adapter: 'worker',
  tier: 'trusted',
  attached: false,
  tick_hz: 20,
  require_script: false,
  readiness: {
    state: 'no_script',
    revision_id: null,
    generation: 0,
    since_unix_millis: 0,
    recovery: { circuit_open: false, consecutive_failures: 0, restart_limit: 5 },
  },
  script: null,
}

const testSecrets = { sessions: new Uint8Array(32), explorer: new Uint8Array(32) }

/** The whole HTTP surface on a real socket, over a real database, under a fake clock. */
export async function openTestApi(options: TestApiOptions): Promise<TestApi> {
  const { db, clock = createFakeClock() } = options
  const config = await testConfig(options.config)
  const log = createRecordedLog()
  const bootId = options.bootId ?? newBootId()
  const ids = createIds({ clock, nodeId: config.server.node_id, bootId })
  const [failures, revoked]: [TestApi['failures'], string[]] = [[], []]
  const players = createFakePlayers()
  const lifeMs = config.scheduler.lease_ttl_ms
  const shared = {
    db,
    clock,
    clockWatch: createClockWatch({ clock, log }),
    ids,
    log,
    config,
    version: '0.0.0-test',
    bootId,
    leases: createLeases({ db, clock, log, holder: bootId, lifeMs }),
  }
  const stored = createFeatures({
    ...shared,
    secrets: { ...testSecrets, admission: options.admissionSecret ?? new Uint8Array(32) },
    onRevoked: (sessionIds) => revoked.push(...sessionIds),
    players,
    recording: options.recording ?? nobodyRecords(),
    journal: options.journal ?? { record: () => '' },
    isBootGone: options.isBootGone,
  })
  const features = { ...stored, ...createPlayFeatures(shared, stored, options.play ?? nobodyPlays) }
  const routes = Object.values(joinRoutes(features)).flat()
  const sourceOf = createSourceAddress(config.http.trusted_proxies)
  const server = createHttpServer({
    config: config.http,
    clock,
    log,
    ...createPipelineDeps({ ...features, sourceOf }, config),
    newRequestId: ids.requestId,
    routes: [...routes, ...(options.routes ?? [])],
    documents: [],
    onServerError: (error, request) => void failures.push({ error, request }),
    ...options.server,
  })
  const { port } = await server.listen('127.0.0.1', 0)
  const url = `http://127.0.0.1:${port}`
  return {
    url,
    clock,
    features,
    routes,
    ...createBackground(features),
    log,
    failures,
    players,
    revoked,
    call: createCaller(url),
    async close() {
      await server.close(0)
      for (const { stop } of Object.values<Feature>(features).toReversed()) await stop?.()
    },
  }
}

function nobodyRecords(): RecordingPlayers {
  return createConnectedPlayers().recording.players
}

/** What features bring beside their routes, to be run by a test. */
function createBackground(features: FeatureList) {
  const pruners = { ...prunersOf(features, 'pruners'), ...prunersOf(features, 'surplus') }
  return {
    pruners,
    pruner: (data: string) => found(pruners[data], data),
    async runTask(name: string): Promise<void> {
      const task = tasksOf(features).find((each) => each.name === name)
      const { signal } = new AbortController()
      await found(task, name).run({ signal, progress: () => undefined })
    },
    queues: queuesOf(features),
    counters: () => countersOf(features),
  }
}

function found<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new Error(`there is no ${name}`)
  return value
}

/** Its sockets stay open between requests and keep no process alive. */
const agent = new Agent({ keepAlive: true })

/** Sends requests to a server and reads their answers whole, for a third of what `fetch` costs. */
export function createCaller(url: string): Caller {
  return async (method, path, { token, body, headers = {} } = {}) => {
    const sent = typeof body === 'string' || body === undefined ? body : JSON.stringify(body)
    const target = new URL(url + path)
    const asked = request(target, {
      method,
      agent,
      // As it is written: of a URL a question mark that nothing follows would be left out.
      path: target.href.slice(target.origin.length),
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(sent === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(sent) }),
        ...headers,
      },
    })
    // What breaks off behind the head of an answer is an error of its reader, too.
    asked.on('error', () => {})
    asked.end(sent)
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    const text = await textOf(response)
    const isJson = response.headers['content-type']?.startsWith('application/json') === true
    const parsed: unknown = isJson && text !== '' ? JSON.parse(text) : undefined
    const { statusCode: status = 0 } = response
    return { status, headers: headersOf(response), body: parsed, text }
  }
}

function headersOf({ headersDistinct }: IncomingMessage): Headers {
  const pairs = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  )
  return new Headers(pairs)
}
