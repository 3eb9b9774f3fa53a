import type { Bus } from '../../kernel/cluster/bus.ts'
import type { Directory } from '../../kernel/cluster/directory.ts'
import { Membership, type MembershipDeps } from '../../kernel/cluster/membership.ts'
import { createIds } from '../../kernel/ids.ts'
import { createRecordedLog, type RecordedLog } from '../../kernel/log/log.fake.ts'
import { createConnectedPlayers } from '../../realtime/connected-players.ts'
import { createGateway, type Gateway } from '../../realtime/gateway.ts'
import type { Player } from '../../realtime/ports.ts'
import { gatewaySections, transportConfig } from '../../realtime/realtime.fixture.ts'
import { createRecordingScript } from '../../realtime/recording-script.fixture.ts'
import type { Network } from './network.ts'
import { commandTimeoutMs, leaseMs, offlineMs, tags } from './settings.ts'
import type { SlowDirectory } from './slow-directory.ts'
import type { Watcher } from './watcher.ts'
import { Process, type World } from './world.ts'

/** One boot of a node, with the gateway of the product. */
export type Node = {
  readonly boot: string
  readonly process: Process
  readonly membership: Membership
  readonly gateway: Gateway
  readonly log: RecordedLog
  /** Sends one more message to the members of a room. */
  speak(roomId: number): void
  /** A graceful stop. */
  shutDown(): Promise<void>
}

export type NodeParts = {
  world: World
  network: Network
  directory: SlowDirectory
  watcher: Watcher
  graceMs: number
  makeMembership?: ((deps: MembershipDeps) => Membership) | undefined
}

/** @throws what the directory throws; start it again then */
export async function startNode(name: string, boot: string, parts: NodeParts): Promise<Node> {
  const { world, network, watcher } = parts
  const process = new Process(world)
  const log = createRecordedLog()
  const bus = network.connect(boot, process)
  const directory = parts.directory.of(process, boot)
  const online = createConnectedPlayers()
  let gateway: Gateway | undefined
  const membershipDeps: MembershipDeps = {
    ...{ directory, log, leaseMs, clock: process.clock },
    node: { node_id: name, boot_id: boot, version: '1.0.0', settings: {} },
    load: () => {
      const { rooms_active: rooms, connections_active: connections } = online.metrics
      return { rooms, connections }
    },
    onLost: () => gateway?.beginAnew(),
  }
  const membership = parts.makeMembership?.(membershipDeps) ?? new Membership(membershipDeps)
  await bus.start({ received: (message) => gateway?.relay?.received(message), changed() {} })
  try {
    await membership.start()
  } catch (error) {
    process.kill()
    await bus.close()
    throw error
  }
  const { script, speak } = createScript(parts, process, () => gateway)
  const randomness = world.random(`ids of ${boot}`)
  gateway = createGateway({
    ...gatewaySections({
      rooms: { reconnect_grace_ms: parts.graceMs },
      party: { offline_ttl_ms: offlineMs, invite_ttl_ms: offlineMs },
    }),
    ...{ online, log, script, serverTimeOffer: 'on_request' },
    config: transportConfig({}),
    clock: process.clock,
    ids: createIds({
      ...{ clock: process.clock, nodeId: name, bootId: boot },
      randomness: (size) => Buffer.from(Array.from({ length: size }, () => randomness.below(256))),
    }),
    people: {
      usernames: async (ids) => new Map(ids.map((id) => [id, id.slice(2)])),
      areBlocked: async () => false,
    },
    verifyPlayer: async (token) => playerOf(token),
    liveSessions: async (ids) => new Set(ids),
    records: watcher.recorder(boot),
    mayMakeRooms: () => true,
    nodeSlot: () => membership.slot,
    cluster: clusterOf(bus, directory, membership),
  })
  return {
    ...{ boot, process, membership, gateway, log, speak },
    async shutDown() {
      await membership.drain().catch(() => {})
      await gateway?.close()
      await membership.stop().catch(() => {})
      await bus.close()
    },
  }
}

function clusterOf(bus: Bus, directory: Directory, membership: Membership) {
  return { bus, directory, membership, commandTimeoutMs }
}

/** Tokens are names: every account has one session. */
function playerOf(name: string): Player {
  return {
    session_id: `s-${name}`,
    user_id: `u-${name}`,
    username: name,
    refresh_expires_at_unix_ms: Number.MAX_SAFE_INTEGER,
  }
}

/** Numbers what members send, and passes it on to all members of the room. */
function createScript(
  { world, watcher }: NodeParts,
  process: Process,
  gateway: () => Gateway | undefined,
) {
  const script = createRecordingScript()
  const random = world.random('script')
  const counts = new Map<number, number>()
  const absent = async () => {
    await process.clock.sleep(random.fraction() * 3)
    return { status: 'absent' } as const
  }

  function speak(roomId: number): void {
    const count = (counts.get(roomId) ?? 0) + 1
    counts.set(roomId, count)
    watcher.spoke(roomId, count)
    const body = Buffer.from(JSON.stringify({ room: roomId, count }))
    gateway()?.broadcast({
      ...{ kind: tags.said, body, unreliable: false, sender: 0, except: [], room_id: roomId },
    })
  }

  script.kinds.add(tags.say)
  script.onRoomCreate = absent
  script.onRoomJoin = absent
  script.onRpc = async (_context, _method, payload) => {
    await process.clock.sleep(random.fraction() * 5)
    return { ok: true, reply: payload }
  }
  script.message = ({ participant, room_id }, { body }, settled) => {
    watcher.heard(participant, room_id, Number(Buffer.from(body).toString()))
    if (room_id !== null) speak(room_id)
    settled('ok')
  }
  script.match = (event, settled) => {
    if (event.event === 'join') watcher.admitted(event.room_id, event.participant)
    settled()
  }
  return { script, speak }
}
