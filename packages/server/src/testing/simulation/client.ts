import {
  authBody,
  type Envelope,
  kinds,
  type MatchmakerMatched,
  matchClosedBody,
  roomCreateBody,
  roomEnterBody,
  roomJoinedBody,
  roomReferenceBody,
  rpcRequestBody,
  rpcResponseBody,
  sessionFlags,
  sessionInfoBody,
  sessionOptionsBody,
} from '@guildhall/contract'
import type { PeerEnd } from '../../realtime/connection/transports/transport.ts'
import { Line } from './line.ts'
import type { Node } from './node.ts'
import { tags } from './settings.ts'
import type { Watcher } from './watcher.ts'
import type { World } from './world.ts'

export type ClientDeps = {
  world: World
  watcher: Watcher
  name: string
  /** Undefined for a guest. */
  account: string | undefined
  travelMs: number
  /** Numbers what the player says, over all of its connections. */
  nextSaid(): number
  over(client: Client): void
}

type Asked = { sinceMs: number; name?: string; room?: number; leaves?: true }

/** One connection of a player, which holds what comes against what may come. */
export class Client {
  readonly node: Node
  readonly #deps: ClientDeps
  readonly #line: Line
  /** Known once the handshake is over. */
  participant: number | undefined
  /** The room that it is in, by all that has come. */
  room: number | undefined
  /** The last message of the room since it is in it. */
  #last: number | undefined
  readonly #seen = new Map<number, number>()
  #asked: Asked | undefined
  readonly #calls = new Map<bigint, { sinceMs: number; method: string; done: Done }>()
  readonly #tickets = new Set<string>()
  #callsMade = 0
  closedWith: number | undefined

  constructor(node: Node, deps: ClientDeps) {
    this.node = node
    this.#deps = deps
    const { world, travelMs } = deps
    this.#line = new Line(world, node.process, travelMs, {
      received: (envelope) => this.#received(envelope),
      closed: (code) => this.#closed(code),
    })
    this.#line.connect(node.gateway)
    const flags = sessionFlags.presence | sessionFlags.notices
    this.#line.send(kinds.AUTH.first, authBody.encode({ access_token: deps.account ?? '' }))
    this.#line.send(kinds.SESSION_OPTIONS.first, sessionOptionsBody.encode({ flags }))
  }

  get isOpen(): boolean {
    return this.#line.isOpen
  }

  get isReady(): boolean {
    return this.isOpen && this.participant !== undefined
  }

  get isAsking(): boolean {
    return this.#asked !== undefined
  }

  /** The last message of its room that came; 0 before the first. */
  get last(): number {
    return this.#last ?? 0
  }

  enter(target: { name: string } | { room: number }): void {
    this.#ask(target)
    if ('name' in target) {
      this.#watchName(target.name)
      this.#line.send(kinds.ROOM_CREATE.first, roomCreateBody.encode({ name: target.name }))
    } else {
      const body = roomReferenceBody.encode({ room_id: target.room })
      this.#line.send(kinds.ROOM_JOIN.first, body)
    }
  }

  /** Makes a room without a name. */
  makeRoom(): void {
    this.#ask({ name: '' })
    const body = roomEnterBody.encode({ mode: 'create', name: '', options: '' })
    this.#line.send(kinds.ROOM_ENTER.first, body)
  }

  leaveRoom(): void {
    this.#ask({ leaves: true })
    this.#line.send(kinds.ROOM_LEAVE.first, roomReferenceBody.encode({ room_id: 0 }))
  }

  say(): void {
    const count = this.#deps.nextSaid()
    this.#say(`says ${count}`)
    this.#line.send(tags.say, Buffer.from(String(count)))
  }

  call(method: string, payload: unknown, done: Done = () => {}): void {
    this.#callsMade += 1
    const request_id = BigInt(this.#callsMade)
    this.#calls.set(request_id, { sinceMs: this.#deps.world.nowMs(), method, done })
    this.#say(`calls ${method} as ${request_id}`)
    const body = Buffer.from(JSON.stringify(payload))
    const request = rpcRequestBody.encode({ request_id, method, payload: body })
    this.#line.send(kinds.RPC_REQUEST.first, request)
  }

  end(how: PeerEnd): void {
    this.#line.end(how)
    this.#over()
  }

  /** The node is gone. */
  die(): void {
    this.#line.die()
  }

  /** What it still waits for although it had its time. */
  unanswered(sinceMs: number): string[] {
    const { name } = this.#deps
    const calls = [...this.#calls.values()].filter((call) => call.sinceMs < sinceMs)
    const waits = calls.map(({ method }) => `(R-RPC-1) ${name} has no answer to ${method}`)
    const asked = this.#asked
    if (asked === undefined || asked.sinceMs >= sinceMs) return waits
    return [...waits, `(R-GEN-7) ${name} has no answer to a request for a room`]
  }

  #received({ kind, body }: Envelope): void {
    if (kind === kinds.SESSION_INFO.first) {
      this.participant = sessionInfoBody.decode(body).participant
      this.#say(`is ${this.participant} on ${this.node.boot}`)
    } else if (kind === kinds.ROOM_JOINED.first) {
      this.#joined(roomJoinedBody.decode(body).room_id)
    } else if (kind === kinds.ROOM_LEAVE.first) {
      this.#out(roomReferenceBody.decode(body).room_id, 'left')
      this.#answered()
    } else if (kind === kinds.MATCH_CLOSED.first) {
      this.#out(matchClosedBody.decode(body).room_id, 'sees the end of')
      // Outside of rooms a leave answers nothing.
      if (this.#asked?.leaves) this.#answered()
    } else if (kind === kinds.ROOM_REJECT.first) {
      this.#say('is refused')
      this.#answered()
    } else if (kind === kinds.RPC_RESPONSE.first) {
      const { request_id, ok, payload } = rpcResponseBody.decode(body)
      this.#replied(request_id, ok, payload)
    } else if (kind === kinds.MATCHMAKER_MATCHED.first) {
      this.#matched(JSON.parse(Buffer.from(body).toString()))
    } else if (kind === tags.said) {
      this.#heard(JSON.parse(Buffer.from(body).toString()))
    }
  }

  #joined(room: number): void {
    const asked = this.#asked
    // With a request under way it may be its answer, or the return to the room by a new link.
    const isOther = asked?.room !== undefined && asked.room !== room
    if (!isOther) this.#answered()
    this.#say(`is in room ${room}`)
    this.room = room
    this.#last = undefined
  }

  #out(room: number, how: string): void {
    this.#say(`${how} room ${room}`)
    if (this.room === room) this.room = undefined
  }

  #ask(target: Omit<Asked, 'sinceMs'>): void {
    this.#asked = { sinceMs: this.#deps.world.nowMs(), ...target }
    this.#say(`asks for ${target.room ?? target.name ?? 'nowhere'}`)
  }

  #answered(): void {
    this.#asked = undefined
    this.#watchName(undefined)
  }

  #replied(id: bigint, ok: boolean, payload: Uint8Array): void {
    const call = this.#calls.get(id)
    if (call === undefined) {
      this.#broken(`(R-RPC-1) got one more answer to the call ${id}: ${ok} ${payload}`)
      return
    }
    this.#calls.delete(id)
    this.#say(`has the answer to ${id}: ${ok}`)
    call.done(ok ? JSON.parse(Buffer.from(payload).toString()) : undefined)
  }

  #matched({ ticket_id, join_token }: MatchmakerMatched): void {
    if (this.#tickets.has(ticket_id)) this.#broken(`(e) the ticket ${ticket_id} matched twice`)
    this.#tickets.add(ticket_id)
    this.#say(`is matched by ${ticket_id}`)
    this.call('matchmaker.accept', { ticket_id, join_token })
  }

  #heard({ room, count }: { room: number; count: number }): void {
    if (room !== this.room) {
      this.#broken(`(c) heard room ${room} while in ${this.room}`)
      return
    }
    const seen = this.#seen.get(room) ?? 0
    if (this.#last !== undefined && count !== this.#last + 1) {
      this.#broken(`(c) heard ${count} of room ${room} behind ${this.#last}`)
    } else if (count <= seen) {
      this.#broken(`(c) heard ${count} of room ${room} again behind ${seen}`)
    }
    this.#last = count
    this.#seen.set(room, count)
  }

  #closed(code: number | undefined): void {
    this.closedWith = code
    this.#say(`is closed with ${code ?? 'nothing'}`)
    this.#over()
  }

  #over(): void {
    this.#watchName(undefined)
    this.room = undefined
    this.#asked = undefined
    this.#calls.clear()
    this.#deps.over(this)
  }

  #watchName(name: string | undefined): void {
    if (this.participant !== undefined) this.#deps.watcher.asks(this.participant, name)
  }

  #say(what: string): void {
    this.#deps.world.say(`${this.#deps.name} ${what}`)
  }

  #broken(what: string): void {
    this.#deps.world.broken(`${this.#deps.name} ${what}`)
  }
}

/** Called with the answer; undefined for a refusal. */
type Done = (answer: Record<string, unknown> | undefined) => void
