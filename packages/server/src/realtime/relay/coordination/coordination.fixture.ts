import type { Envelope } from '@guildhall/contract'
import { kinds, type MatchmakerMatched, rpcRequestBody, rpcResponseBody } from '@guildhall/contract'
import { joinAs, type Player } from '../../play/rooms/rooms.fixture.ts'
import {
  bytesOf,
  type FixtureOptions,
  type RealtimeFixture,
  textOf,
} from '../../realtime.fixture.ts'
import { type ClusterFixture, startCluster } from '../cluster.fixture.ts'

type Reply = Record<string, unknown>

/** A player that calls methods, and keeps what else comes until a test looks at it. */
export type Gatherer = {
  player: Player
  /** The reply, or the text of the refusal. */
  call(method: string, payload?: object): Promise<Reply | string>
  /** The next push of this type. */
  push(type: string): Promise<Reply>
  matched(): Promise<MatchmakerMatched>
  /** The next envelope of a kind. */
  next(kind: number): Promise<Envelope>
}

export async function gatherer(node: RealtimeFixture, name: string): Promise<Gatherer> {
  node.backend.add(name)
  const player = await joinAs(node, `t-${name}`)
  const kept: Envelope[] = []

  async function find(fits: (envelope: Envelope) => boolean): Promise<Envelope> {
    const at = kept.findIndex(fits)
    const [found] = at < 0 ? [] : kept.splice(at, 1)
    if (found !== undefined) return found
    for (;;) {
      const envelope = await player.next()
      if (fits(envelope)) return envelope
      kept.push(envelope)
    }
  }

  const next = (kind: number) => find((envelope) => envelope.kind === kind)
  return {
    player,
    next,
    async call(method, payload = {}) {
      const request = { request_id: 7n, method, payload: bytesOf(JSON.stringify(payload)) }
      player.send(kinds.RPC_REQUEST.first, rpcRequestBody.encode(request))
      const { ok, payload: reply } = rpcResponseBody.decode(
        (await next(kinds.RPC_RESPONSE.first)).body,
      )
      return ok ? JSON.parse(textOf(reply)) : textOf(reply)
    },
    async push(type) {
      const { body } = await find(
        (each) => each.kind === kinds.NOTIFICATION.first && typeOf(each) === type,
      )
      return JSON.parse(textOf(body))
    },
    async matched() {
      return JSON.parse(textOf((await next(kinds.MATCHMAKER_MATCHED.first)).body))
    },
  }
}

function typeOf({ body }: Envelope): unknown {
  return (JSON.parse(textOf(body)) as Reply).type
}

/** Nodes whose accounts `u-NAME` are all active. */
export function startGatherings(
  options: FixtureOptions & { size?: number } = {},
): Promise<ClusterFixture> {
  return startCluster({
    people: {
      usernames: async (ids) => new Map(ids.map((id) => [id, id.slice(2)])),
      areBlocked: async () => false,
    },
    ...options,
  })
}
