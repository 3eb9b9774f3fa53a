import { createDirectory } from '../../cluster/directory/directory.store.ts'
import type { Config } from '../../config/schema.ts'
import type { Database } from '../../database/database.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Bus } from '../../kernel/cluster/bus.ts'
import type { Directory } from '../../kernel/cluster/directory.ts'
import { Membership } from '../../kernel/cluster/membership.ts'
import type { Ids } from '../../kernel/ids.ts'
import type { Log } from '../../kernel/log/log.ts'
import { createTopic, type Topic } from '../../kernel/play/topic.ts'

/** What joins a node with the others of its database. */
export type Cluster = {
  bus: Bus
  directory: Directory
  membership: Membership
  commandTimeoutMs: number
  /** Whether a boot has not renewed for the life of a lease. */
  isBootGone(bootId: string): boolean
  /** What comes by the bus. */
  messages: Topic<Uint8Array>
  /** The bus is lost, or there again. */
  busChanges: Topic<boolean>
  /** The slot is another node's: what has an id of it ends. */
  slotLost: Topic<void>
  metrics(): Record<string, number>
  stop(): Promise<void>
}

export type ClusterParts = {
  config: Config
  db: Database
  clock: Clock
  log: Log
  ids: Pick<Ids, 'bytes'>
  bootId: string
  version: string
  /** What the node's row says of its load. */
  load(): { rooms: number; connections: number }
}

const senderBytes = 8

/**
 * Connects to the bus and takes a slot; undefined where the node plays with itself.
 *
 * @throws ClusterMismatch beside a live node with other settings, BusUnfit where the bus is deaf
 */
export async function openCluster(parts: ClusterParts): Promise<Cluster | undefined> {
  const { config, clock, bootId, version } = parts
  const { cluster } = config
  if (!cluster.enabled) return undefined
  const log = parts.log.component('cluster')
  const messages = createTopic<Uint8Array>()
  const busChanges = createTopic<boolean>()
  const slotLost = createTopic<void>()
  const counts = { in: 0, out: 0, bytes: 0, invalid: 0 }
  const directory = createDirectory(parts.db)
  const membership = new Membership({
    ...{ directory, clock, log, load: parts.load },
    node: {
      node_id: config.server.node_id,
      boot_id: bootId,
      version,
      settings: settingsOf(config),
    },
    leaseMs: cluster.lease_ttl_ms,
    onLost: () => slotLost.publish(),
  })
  const bus = counted(await openBus(parts, log, () => (counts.invalid += 1)), counts)
  await bus.start({
    received(message) {
      counts.in += 1
      messages.publish(message)
    },
    changed: busChanges.publish,
  })
  try {
    await membership.start()
  } catch (error) {
    await membership.stop().catch(() => {})
    await bus.close()
    throw error
  }
  log.info('plays together with others', { slot: membership.slot, bus: cluster.bus })
  return {
    ...{ bus, directory, membership, messages, busChanges, slotLost },
    commandTimeoutMs: cluster.command_timeout_ms,
    isBootGone: (boot) => membership.node(boot)?.isGone ?? false,
    metrics: () => ({
      nodes_live: membership.nodes().filter(({ isGone }) => !isGone).length,
      bus_up: bus.isUp ? 1 : 0,
      bus_messages_in_total: counts.in,
      bus_messages_out_total: counts.out,
      bus_bytes_out_total: counts.bytes,
      bus_invalid_total: counts.invalid,
    }),
    async stop() {
      await membership.stop().catch((error) => log.warn('the slot was not given back', { error }))
      await bus.close()
    },
  }
}

/** What all nodes of a deployment need alike. */
function settingsOf({ cluster, transport, rooms }: Config): Record<string, string> {
  return {
    'cluster.cluster_id': cluster.cluster_id,
    'cluster.bus': cluster.bus,
    'transport.limits.max_envelope_bytes': String(transport.limits.max_envelope_bytes),
    'rooms.reconnect_grace_ms': String(rooms.reconnect_grace_ms),
  }
}

async function openBus(
  { config, clock, ids, bootId }: ClusterParts,
  log: Log,
  invalid: () => void,
): Promise<Bus> {
  const { cluster, database } = config
  const sender = Uint8Array.from(ids.bytes(senderBytes))
  const common = { clusterId: cluster.cluster_id, bootId, log, sender, invalid }
  // Each is loaded by those alone who have it.
  if (cluster.bus === 'postgres') {
    const url = cluster.listen_url ?? database.url
    if (url === undefined) throw new Error('cluster.enabled was checked to have PostgreSQL')
    const { createPostgresBus } = await import('../../cluster/bus/postgres-bus.ts')
    return createPostgresBus({ ...common, url, clock })
  }
  const { nats_url: url, credentials_file: credentialsFile } = cluster
  if (url === undefined) throw new Error('cluster.nats_url was checked to be there')
  const { createNatsBus } = await import('../../cluster/bus/nats-bus.ts')
  return createNatsBus({ ...common, url, credentialsFile })
}

function counted(bus: Bus, counts: { out: number; bytes: number }): Bus {
  const count = (message: Uint8Array) => {
    counts.out += 1
    counts.bytes += message.length
  }
  return {
    start: bus.start,
    send(boot, message) {
      count(message)
      bus.send(boot, message)
    },
    sendAll(message) {
      count(message)
      bus.sendAll(message)
    },
    get isUp() {
      return bus.isUp
    },
    get waitingBytes() {
      return bus.waitingBytes
    },
    close: bus.close,
  }
}
