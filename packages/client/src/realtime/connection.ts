import type { GameTypes } from '@guildhall/contract/wire'
import { GuildhallError } from '../error.ts'
import { createMatchmaker } from '../rooms/matchmaker.ts'
import { createParty } from '../rooms/party.ts'
import { createRooms } from '../rooms/rooms.ts'
import { type Accepted, baseFlags } from './connecting/handshake.ts'
import { createLiveness, idleMsDefault } from './connecting/liveness.ts'
import { Machine, type MachineDeps } from './connecting/machine.ts'
import type { Connection, ConnectOptions, Stats } from './connection-types.ts'
import type { Part, Wire } from './part.ts'
import { createDispatch } from './receiving/dispatch.ts'
import { Inbox } from './receiving/inbox.ts'
import { createReports, type Reports } from './receiving/reports.ts'
import { type EnvelopeTap, offerRecording } from './recording-port.ts'
import { closedError, createCalls } from './sending/calls.ts'
import { createSender } from './sending/sender.ts'
import { WaitingQueue } from './sending/waiting-queue.ts'
import { createServerClock } from './server-clock.ts'
import { createStateRequest } from './state-request.ts'

/**
 * Connects and resolves once the server has accepted the player.
 *
 * @throws GuildhallError `closed` with the code, `timeout`, `network_error`, or what a refresh of
 * the session throws
 */
export async function openConnection<G extends GameTypes>(
  deps: MachineDeps,
  options: ConnectOptions,
): Promise<Connection<G>> {
  const stats: Stats = { malformed: 0, unheard: 0, unreliableDropped: 0 }
  const reports = createReports()
  const waiting = new WaitingQueue(deps.host)
  let accepted: Accepted | undefined
  let tap: EnvelopeTap | undefined

  const machine = new Machine(deps, options, {
    opened(next, resumed) {
      accepted = next
      next.channel.tap = tap
      const dropped = resumed ? 0 : waiting.dropSends()
      for (const part of all) part.opened?.(next, resumed)
      waiting.flush()
      return dropped
    },
    state(event) {
      reports.emit('state', event)
      if (event.state === 'open' && accepted !== undefined) takeOver(accepted)
    },
    lost() {
      const error = new GuildhallError('connection_lost', 'the connection is lost')
      for (const part of all) part.lost?.(error)
    },
    closed() {
      for (const part of all) part.closed?.(closedError())
      waiting.clear()
    },
  })

  /** What came with the handshake is heard behind the state that it led to. */
  function takeOver({ channel, early }: Accepted): void {
    // A listener of that state may have given the link up, or closed the connection.
    const isHeard = () => machine.channel === channel
    if (isHeard()) channel.onEnvelope = dispatch
    for (const envelope of early) if (isHeard()) dispatch(envelope)
  }

  const sender = createSender({ machine, waiting, stats, maxBytes: () => maxBytesOf(accepted) })
  const wire: Wire = {
    host: deps.host,
    waiting,
    get isOpen() {
      return machine.channel !== undefined
    },
    get isClosed() {
      return machine.state === 'closed'
    },
    get participant() {
      return accepted?.info.participant ?? 0
    },
    get userId() {
      return accepted?.userId ?? null
    },
    get username() {
      const session = deps.keeper.present
      return session?.user_id === accepted?.userId ? (session?.username ?? null) : null
    },
    checkSize: sender.checkSize,
    write: sender.write,
    push(event, value, bytes) {
      inbox.offer(bytes, () => {
        const isHeard = reports.has(event)
        if (isHeard) reports.emit(event, value)
        return isHeard
      })
    },
  }
  const inbox = new Inbox(deps.host, stats, {
    hears: () => reports.has('message'),
    hear: (message) => reports.emit('message', message),
  })
  const states = createStateRequest(wire, baseFlags(options.notices ?? false))
  const parts = createParts(wire, { sender, inbox, reports, askForStates: states.ask })
  const liveness = createLiveness(wire, {
    idleMs: options.idleMs ?? idleMsDefault,
    ask: parts.clock.ask,
    lost: () => machine.giveUpLink(),
  })
  // Rooms come first: what a new link means for them, the others may ask.
  const { rooms, calls, matchmaker, party, clock } = parts
  const all: Part[] = [rooms, calls, matchmaker, party, clock, liveness, states]
  const dispatch = createDispatch({ wire, parts: all, rooms: parts.rooms, inbox, reports, stats })

  await machine.connect()
  const face = createFace(wire, { machine, parts, reports, sender, inbox, stats })
  offerRecording(face, {
    host: deps.host,
    baseUrl: deps.baseUrl,
    write: wire.write,
    tap(next) {
      tap = next
      if (machine.channel !== undefined) machine.channel.tap = next
    },
  })
  // What a game's own types say of names and bodies, nobody looks at when the program runs.
  return face as unknown as Connection<G>
}

function maxBytesOf(accepted: Accepted | undefined): number {
  return accepted?.info.max_envelope_bytes ?? 0
}

type Means = { sender: ReturnType<typeof createSender>; inbox: Inbox; reports: Reports }
type Parts = ReturnType<typeof createParts>

function createParts(
  wire: Wire,
  { sender, inbox, reports, askForStates }: Means & { askForStates: () => void },
) {
  const calls = createCalls(wire)
  const rooms = createRooms(wire, {
    calls,
    send: sender.send,
    listened: () => inbox.listened(),
    askForStates,
    failed: reports.failed,
  })
  const matchmaker = createMatchmaker(wire, { calls, rooms })
  return {
    calls,
    rooms,
    matchmaker,
    party: createParty(wire, calls),
    clock: createServerClock(wire),
  }
}

/** What the game sees of it all. */
function createFace(
  wire: Wire,
  {
    machine,
    parts,
    reports,
    sender,
    inbox,
    stats,
  }: Means & {
    machine: Machine
    parts: Parts
    stats: Stats
  },
): Connection {
  let transport = machine.channel?.target.transport ?? 'websocket'
  return {
    get userId() {
      return wire.userId
    },
    get participant() {
      return wire.participant
    },
    get transport() {
      transport = machine.channel?.target.transport ?? transport
      return transport
    },
    get state() {
      return machine.state
    },
    stats,
    on(event, call) {
      const off = reports.on(event, call)
      inbox.listened()
      return off
    },
    send: sender.send,
    rpc: (method: string, payload?: unknown, options = {}) =>
      parts.calls.rpc(method, payload, options) as ReturnType<Connection['rpc']>,
    rooms: parts.rooms.calls,
    matchmaker: { find: parts.matchmaker.find },
    party: parts.party.calls,
    serverNow: parts.clock.now,
    get serverTimeUncertaintyMs() {
      return parts.clock.uncertaintyMs()
    },
    reconnect: () => machine.reconnect(),
    close: (code = 1000, reason = '') => machine.close(code, reason),
  } as Connection
}
