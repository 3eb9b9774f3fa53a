import { createMemoryNetwork } from '../../cluster/bus/memory-bus.ts'
import { createMemoryDirectory } from '../../cluster/directory/memory-directory.ts'
import { createFakeClock, type FakeClock } from '../../kernel/clock.fake.ts'
import { atEndOfTurn } from '../../kernel/clock.ts'
import type { Bus } from '../../kernel/cluster/bus.ts'
import type { Directory } from '../../kernel/cluster/directory.ts'
import { Membership } from '../../kernel/cluster/membership.ts'
import { createRecordedLog } from '../../kernel/log/log.fake.ts'
import {
  createBackend,
  type FixtureOptions,
  type RealtimeFixture,
  startRealtime,
} from '../realtime.fixture.ts'

export type ClusterNode = RealtimeFixture & {
  membership: Membership
  bus: Bus
  /** Has `pass` decide what becomes of each message that leaves the node, or nothing. */
  disturb(pass: ((send: () => void) => void) | undefined): void
  /** Cuts the node off from the bus, or joins it again. */
  cut(isCut: boolean): void
  /** The directory answers this node no more, or again. */
  loseDirectory(isLost: boolean): void
  /** What the node asks of the directory has no answer until it is let go, and fails then. */
  stallDirectory(): () => void
  /** The node is gone at once, without a word to anybody. */
  kill(): void
}

export type ClusterFixture = {
  nodes: readonly [ClusterNode, ClusterNode, ...ClusterNode[]]
  clock: FakeClock
  directory: Directory
  /** Moves the clock in steps of half a second, so that beats go out and are heard. */
  pass(ms: number): Promise<void>
  settle(): Promise<void>
  close(): Promise<void>
}

export const leaseMs = 5000

/** Nodes of one process that play together, each behind a listener of its own. */
export async function startCluster(
  options: FixtureOptions & { size?: number } = {},
): Promise<ClusterFixture> {
  const { size = 2, ...rest } = options
  const clock = createFakeClock()
  const backend = createBackend(clock)
  const directory = createMemoryDirectory()
  const network = createMemoryNetwork()
  const nodes: ClusterNode[] = []
  for (let at = 1; at <= size; at += 1) {
    nodes.push(await startNode(`${at}`, { clock, backend, directory, network, options: rest }))
  }
  for (const { membership } of nodes) await membership.refresh()
  const [first, second, ...others] = nodes
  if (first === undefined || second === undefined) throw new Error('a cluster has two nodes')
  const settle = async () => {
    for (let turn = 0; turn < 12; turn += 1) await new Promise<void>(atEndOfTurn)
  }
  return {
    nodes: [first, second, ...others],
    clock,
    directory,
    settle,
    async pass(ms) {
      for (let passed = 0; passed < ms; passed += stepMs) {
        await clock.advance(stepMs)
        await settle()
      }
    },
    async close() {
      for (const node of nodes) await node.close()
    },
  }
}

const stepMs = 500

type NodeParts = {
  clock: FakeClock
  backend: ReturnType<typeof createBackend>
  directory: Directory
  network: ReturnType<typeof createMemoryNetwork>
  options: FixtureOptions
}

async function startNode(name: string, parts: NodeParts): Promise<ClusterNode> {
  const { clock, backend, directory, network, options } = parts
  const boot_id = `bt1-${name}`
  const connected = network.connect(boot_id)
  let isCut = false
  let isDead = false
  let stalled: Promise<never> | undefined
  let disturbed: ((send: () => void) => void) | undefined
  const bus: Bus = {
    ...connected,
    get isUp() {
      return !isCut
    },
    send: (boot, message) => {
      const leave = () => connected.send(boot, message)
      if (isCut) return
      if (disturbed === undefined) leave()
      else disturbed(leave)
    },
    sendAll: (message) => {
      if (!isCut) connected.sendAll(message)
    },
  }
  let gateway: RealtimeFixture['gateway'] | undefined
  const own: Directory = isolated(directory, () => {
    if (isDead) return Promise.reject(new Error('the node is dead'))
    return stalled
  })
  const membership = new Membership({
    directory: own,
    clock,
    log: createRecordedLog(),
    node: { node_id: `node-${name}`, boot_id, version: '1.0.0', settings: {} },
    leaseMs,
    load: () => ({ rooms: 0, connections: 0 }),
    onLost: () => gateway?.beginAnew(),
  })
  await membership.start()
  const cluster = { bus, directory: own, membership, commandTimeoutMs: 2000 }
  const realtime = await startRealtime({ ...options, clock, backend, cluster })
  gateway = realtime.gateway
  await bus.start({
    received: (message) => {
      if (!isCut) realtime.gateway.relay?.received(message)
    },
    changed() {},
  })
  return {
    ...realtime,
    membership,
    bus,
    disturb(pass) {
      disturbed = pass
    },
    cut(cut) {
      isCut = cut
    },
    loseDirectory(isLost) {
      isDead = isLost
    },
    stallDirectory() {
      const { promise, reject } = Promise.withResolvers<never>()
      promise.catch(() => {})
      stalled = promise
      return () => {
        stalled = undefined
        reject(new Error('the statement was given up'))
      }
    },
    kill() {
      isCut = true
      isDead = true
    },
    async close() {
      await realtime.close()
      await membership.stop().catch(() => {})
      await bus.close()
    },
  }
}

/** A directory that may do something else than answer. */
function isolated(directory: Directory, instead: () => Promise<never> | undefined): Directory {
  const entries = Object.entries(directory).map(([name, operation]) => {
    return [name, (...given: unknown[]) => instead() ?? Reflect.apply(operation, undefined, given)]
  })
  return Object.fromEntries(entries)
}
