import {
  type Envelope,
  encodeFrame,
  FrameDecoder,
  kinds,
  roomCreateBody,
  roomPresenceBody,
  roomReferenceBody,
  sessionOptionsBody,
} from '@guildhall/contract'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createFakeClock } from '../../../kernel/clock.fake.ts'
import { createIds } from '../../../kernel/ids.ts'
import { createRecordedLog } from '../../../kernel/log/log.fake.ts'
import { noMatchRecords } from '../../../kernel/play/match-recorder.ts'
import type { MatchEvent } from '../../../kernel/play/room-hooks.ts'
import { createConnectedPlayers } from '../../connected-players.ts'
import type { Connection, ConnectionEvents, Lanes } from '../../connection/transports/transport.ts'
import { createGateway, type Gateway } from '../../gateway.ts'
import { gatewaySections, transportConfig } from '../../realtime.fixture.ts'
import { createRecordingScript, type RecordingScript } from '../../recording-script.fixture.ts'
import { noPeople } from '../parties/people.port.ts'

/** A client without sockets that keeps what presence sent it. */
class ModelClient implements Connection {
  readonly limitGroup = undefined
  readonly credit = 1
  readonly datagrams = undefined
  readonly userId: string
  /** The members of its room as presence reported them; undefined outside any room. */
  view: { roomId: number; members: Set<number> } | undefined
  isOpen = true
  faults: string[] = []
  events: ConnectionEvents | undefined
  readonly #decoder = new FrameDecoder(1 << 20)

  constructor(userId: string) {
    this.userId = userId
  }

  write({ reliable, unreliable }: Lanes): void {
    for (let frame = reliable?.at(0); frame; frame = reliable?.at(0)) {
      this.#decoder.push(Uint8Array.from(frame.bytes))
      reliable?.drop(1)
    }
    unreliable?.drop(unreliable.length)
    for (let next = this.#decoder.next(); next; next = this.#decoder.next()) this.#hear(next)
  }

  pauseReading(): void {}
  resumeReading(): void {}
  close(): void {
    this.destroy()
  }
  destroy(): void {
    if (!this.isOpen) return
    this.isOpen = false
    this.events?.closed()
  }

  send(kind: number, body: Uint8Array = new Uint8Array(0)): void {
    if (this.isOpen) this.events?.received(0, encodeFrame(kind, body))
  }

  #hear({ kind, body }: Envelope): void {
    if (kind !== kinds.ROOM_PRESENCE.first) return
    const { event, room_id, entries } = roomPresenceBody.decode(body)
    if (event === 'snapshot') {
      this.view = { roomId: room_id, members: new Set(entries.map((entry) => entry.participant)) }
    }
    for (const { participant } of entries) this.#change(event, room_id, participant)
  }

  #change(event: string, roomId: number, participant: number): void {
    const { view } = this
    if (event === 'snapshot') return
    if (view?.roomId !== roomId) this.faults.push(`${event} of room ${roomId}`)
    else if (event === 'joined' && view.members.has(participant)) this.faults.push('joined twice')
    else if (event !== 'joined' && !view.members.has(participant)) this.faults.push('unknown')
    else if (event === 'joined') view.members.add(participant)
    else if (event === 'left' && participant === this.participant) this.view = undefined
    else if (event === 'left') view.members.delete(participant)
  }

  participant = 0
}

type World = {
  gateway: Gateway
  script: RecordingScript
  clients: ModelClient[]
  /** Hooks that wait for an answer. */
  open: (() => void)[]
  clock: ReturnType<typeof createFakeClock>
}

const graceMs = 1000

function createWorld(): World {
  const clock = createFakeClock()
  const script = createRecordingScript()
  const open: (() => void)[] = []
  const later = () =>
    new Promise<{ status: 'absent' }>((resolve) => {
      open.push(() => resolve({ status: 'absent' }))
    })
  script.onRoomCreate = later
  script.onRoomJoin = later
  const gateway = createGateway({
    config: transportConfig({}),
    ...gatewaySections({
      rooms: { max_rooms: 3, max_members: 3, reconnect_grace_ms: graceMs },
    }),
    people: noPeople,
    serverTimeOffer: 'on_request',
    clock,
    ids: createIds({ clock, nodeId: 'n', bootId: 'b' }),
    log: createRecordedLog(),
    script,
    online: createConnectedPlayers(),
    verifyPlayer: async (token) => ({
      session_id: `s-${token}`,
      user_id: token,
      username: token,
      refresh_expires_at_unix_ms: Number.MAX_SAFE_INTEGER,
    }),
    liveSessions: async (ids) => new Set(ids),
    records: noMatchRecords,
    mayMakeRooms: () => true,
    nodeSlot: () => 0,
  })
  return { gateway, script, clients: [], open, clock }
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

async function connect(world: World, userId: string): Promise<void> {
  const client = new ModelClient(userId)
  client.events = world.gateway.accept(client)
  client.send(kinds.AUTH.first, new TextEncoder().encode(userId))
  client.send(kinds.SESSION_OPTIONS.first, sessionOptionsBody.encode({ flags: 9 }))
  await settle()
  const session = (await world.gateway.sessions()).find(({ user_id }) => user_id === userId)
  client.participant = session?.participant ?? 0
  world.clients = world.clients.filter((other) => other.userId !== userId || !client.isOpen)
  world.clients.push(client)
}

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('create' as const), who: fc.nat(3), what: fc.nat(2) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('join' as const), who: fc.nat(3), what: fc.nat(5) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('leave' as const), who: fc.nat(3), what: fc.nat(0) }),
  },
  {
    weight: 9,
    arbitrary: fc.record({ do: fc.constant('answer' as const), who: fc.nat(0), what: fc.nat(3) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('drop' as const), who: fc.nat(3), what: fc.nat(0) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('quit' as const), who: fc.nat(3), what: fc.nat(0) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('connect' as const), who: fc.nat(3), what: fc.nat(0) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('remove' as const), who: fc.nat(3), what: fc.nat(5) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('wait' as const), who: fc.nat(0), what: fc.nat(1200) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('close' as const), who: fc.nat(0), what: fc.nat(0) }),
  },
)
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

async function act(world: World, { do: what, who, what: number }: Step): Promise<void> {
  const { gateway } = world
  const client = world.clients.find(({ userId, isOpen }) => userId === `u${who}` && isOpen)
  const rooms = await gateway.rooms()
  const room_id = rooms[number]?.room_id ?? number
  if (what === 'create') client?.send(21, roomCreateBody.encode({ name: `n${number}` }))
  if (what === 'join') client?.send(22, roomReferenceBody.encode({ room_id }))
  if (what === 'leave') client?.send(24)
  if (what === 'answer') world.open.splice(number, 1)[0]?.()
  if (what === 'drop') client?.destroy()
  if (what === 'quit') client?.events?.ending('left')
  if (what === 'quit') client?.destroy()
  if (what === 'connect') await connect(world, `u${who}`)
  if (what === 'remove') {
    const member = (await gateway.members(room_id))[who]
    gateway.removeMember(room_id, member?.participant ?? 0)
  }
  if (what === 'wait') await world.clock.advance(number)
  if (what === 'close') gateway.closeBoundRooms(0)
  await settle()
}

/** What holds at every moment at which nothing is under way. */
async function checkInvariants({ gateway, clients, script }: World): Promise<void> {
  const rooms = await gateway.rooms()
  const members = await Promise.all(rooms.map(({ room_id }) => gateway.members(room_id)))
  const everywhere = members.flat()
  const ids = everywhere.map(({ participant }) => participant)
  expect(new Set(ids).size).toBe(ids.length)
  for (const room of rooms) {
    expect(room.players).toBe((await gateway.members(room.room_id)).length)
    expect(room.players).toBeGreaterThan(0)
    expect(room.players).toBeLessThanOrEqual(3)
  }
  expect(new Set(rooms.map(({ name }) => name)).size).toBe(rooms.length)
  expect(rooms.length).toBeLessThanOrEqual(3)
  const metrics = gateway.metrics()
  expect(metrics.rooms_active).toBe(rooms.length)
  expect(metrics.dropped_seats_active).toBe(everywhere.filter((one) => !one.connected).length)
  for (const value of Object.values(metrics)) expect(value).toBeGreaterThanOrEqual(0)
  for (const client of clients.filter(({ isOpen }) => isOpen)) {
    const session = (await gateway.sessions()).find((one) => one.participant === client.participant)
    expect(client.faults).toEqual([])
    expect(client.view?.roomId ?? null).toBe(session?.room_id ?? null)
    const members = await gateway.members(client.view?.roomId ?? 0)
    const known = [...(client.view?.members ?? [])].sort((a, b) => a - b)
    expect(known).toEqual(members.map(({ participant }) => participant))
  }
  checkMatches(script.matchEvents)
}

/** The events of every match are consistent: created, started, joins and leaves, ended. */
function checkMatches(events: readonly MatchEvent[]): void {
  const members = new Map<string, Set<number>>()
  const over = new Set<string>()
  for (const event of events) {
    const { match_id } = event
    expect(over.has(match_id)).toBe(false)
    const inside = members.get(match_id)
    if (event.event === 'created') {
      expect(inside).toBeUndefined()
      members.set(match_id, new Set())
    } else if (event.event === 'join') {
      expect(inside?.has(event.participant)).toBe(false)
      inside?.add(event.participant)
      expect(event.participants).toBe(inside?.size)
    } else if (event.event === 'leave') {
      expect(inside?.delete(event.participant)).toBe(true)
      expect(event.participants).toBe(inside?.size)
    } else if (event.event === 'ended') {
      expect(inside?.size).toBe(0)
      over.add(match_id)
    }
  }
}

test('[R-ROOM-2, R-PRS-1, R-MAT-1, R-RET-2] rooms, presence and match events agree, whatever happens', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
      const world = createWorld()
      for (const name of ['u0', 'u1', 'u2', 'u3']) await connect(world, name)
      for (const one of steps) {
        await act(world, one)
        await checkInvariants(world)
      }
      while (world.open.length > 0) {
        for (const answer of world.open.splice(0)) answer()
        await settle()
      }
      await checkInvariants(world)
      const closing = world.gateway.close()
      await world.clock.advance(20_000)
      await closing
      expect(await world.gateway.rooms()).toEqual([])
      const ended = world.script.matchEvents.filter(({ event }) => event === 'ended').length
      const created = world.script.matchEvents.filter(({ event }) => event === 'created').length
      expect(ended).toBe(created)
    }),
    { numRuns: 60 },
  )
})
