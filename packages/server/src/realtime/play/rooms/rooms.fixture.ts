import {
  kinds,
  matchClosedBody,
  type RoomEnter,
  roomCreateBody,
  roomEnterBody,
  roomJoinedBody,
  roomPresenceBody,
  roomReferenceBody,
  roomRejectBody,
  rpcRequestBody,
  rpcResponseBody,
  sessionOptionsBody,
} from '@guildhall/contract'
import { expect } from 'vitest'
import {
  bytesOf,
  type RealtimeFixture,
  type TestClient,
  textOf,
  waiting,
} from '../../realtime.fixture.ts'

/** A client that speaks of rooms. */
export type Player = TestClient & {
  create(name: string): void
  joinRoom(roomId: number): void
  enter(enter: RoomEnter): void
  leave(): void
  /** The next envelope, as one line of text. */
  line(): Promise<string>
  /** Everything that comes until a room request is answered, as lines. */
  lines(count: number): Promise<string[]>
}

/** Joins with a token, or as a guest; `presence` is the version of the notices to ask for. */
export async function joinAs(
  realtime: RealtimeFixture,
  token = '',
  presence?: 1 | 2,
): Promise<Player> {
  const client = await realtime.join(token)
  if (presence !== undefined) {
    client.send(kinds.SESSION_OPTIONS.first, sessionOptionsBody.encode({ flags: flags[presence] }))
    await client.next()
  }
  return playerOf(client)
}

/** A second connection of an account, by a session of its own. */
export async function joinAgain(realtime: RealtimeFixture, name: string): Promise<Player> {
  const { players, live } = realtime.backend
  const player = players.get(`t-${name}`)
  if (player === undefined) throw new Error('no such account')
  players.set(`t-${name}2`, { ...player, session_id: `s-${name}2` })
  live.add(`s-${name}2`)
  return joinAs(realtime, `t-${name}2`)
}

export const flags = { 1: 1, 2: 9 } as const

export function playerOf(client: TestClient): Player {
  const line = async () => describe(await client.next())
  return {
    ...client,
    create: (name) => client.send(kinds.ROOM_CREATE.first, roomCreateBody.encode({ name })),
    joinRoom: (room_id) => client.send(22, roomReferenceBody.encode({ room_id })),
    enter: (enter) => client.send(kinds.ROOM_ENTER.first, roomEnterBody.encode(enter)),
    leave: () => client.send(24, roomReferenceBody.encode({ room_id: 0 })),
    line,
    async lines(count) {
      const lines: string[] = []
      while (lines.length < count) lines.push(await line())
      return lines
    },
  }
}

function describe({ kind, body }: { kind: number; body: Uint8Array }): string {
  const decode = decoders[kind]
  return decode === undefined ? `kind ${kind} ${Buffer.from(body)}` : decode(body)
}

const decoders: { [kind: number]: (body: Uint8Array) => string } = {
  [kinds.ROOM_JOINED.first](body) {
    const { room_id, map, mode } = roomJoinedBody.decode(body)
    return `joined ${room_id} ${map}/${mode}`
  },
  [kinds.ROOM_REJECT.first](body) {
    const { request_kind, reason } = roomRejectBody.decode(body)
    return `rejected ${request_kind} ${reason}`
  },
  [kinds.ROOM_LEAVE.first]: (body) => `left ${roomReferenceBody.decode(body).room_id}`,
  [kinds.MATCH_CLOSED.first](body) {
    const { room_id, reason, requeue } = matchClosedBody.decode(body)
    return `closed ${room_id} ${reason} ${requeue}`
  },
  [kinds.SESSION_INFO.first]: () => 'info',
  [kinds.ROOM_PRESENCE.first](body) {
    const { version, event, room_id, entries, more } = roomPresenceBody.decode(body)
    const who = entries.map(({ participant, user_id, username, reason }) =>
      [participant, user_id, username, reason].filter((part) => part !== null).join(':'),
    )
    return `v${version} ${event} ${room_id} ${who.join(' ')}${more ? ' ...' : ''}`
  },
}

/** Guests, one after another. */
export async function joinAll(
  realtime: RealtimeFixture,
  count: number,
  presence?: 1 | 2,
): Promise<Player[]> {
  const joined: Player[] = []
  for (let index = 0; index < count; index += 1) joined.push(await joinAs(realtime, '', presence))
  return joined
}

/** Resolves when everything these clients have sent before was dispatched. */
export async function barrier(
  { gateway }: RealtimeFixture,
  ...clients: (Player | undefined)[]
): Promise<void> {
  const { decode_errors_total } = gateway.metrics()
  for (const client of clients) client?.send(kinds.DIAG_CLOCK_SYNC.first)
  await expect
    .poll(() => gateway.metrics().decode_errors_total, waiting)
    .toBe(decode_errors_total + clients.length)
}

/** Calls a method of the service: the reply, or the text of the refusal. */
export async function callMethod(
  client: TestClient,
  method: string,
  payload: unknown,
): Promise<unknown> {
  const body = typeof payload === 'string' ? payload : JSON.stringify(payload)
  const request = { request_id: 7n, method, payload: bytesOf(body) }
  client.send(kinds.RPC_REQUEST.first, rpcRequestBody.encode(request))
  const { kind, body: answer } = await client.next()
  if (kind !== kinds.RPC_RESPONSE.first) throw new Error(`kind ${kind} instead of a response`)
  const { ok, payload: reply } = rpcResponseBody.decode(answer)
  return ok ? JSON.parse(textOf(reply)) : textOf(reply)
}
