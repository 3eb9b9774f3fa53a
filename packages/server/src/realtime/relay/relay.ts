import type { Replaced } from '../../kernel/cluster/directory.ts'
import type { Membership } from '../../kernel/cluster/membership.ts'
import { BadMessage } from '../../kernel/cluster/wire.ts'
import { slotOf } from '../counting-ids.ts'
import type { Coordination } from '../play/coordination.port.ts'
import type { Elsewhere } from '../play/elsewhere.port.ts'
import type { Others } from '../play/others.port.ts'
import type { VerifyPlayer } from '../ports.ts'
import { type Asks, createAsks } from './asks.ts'
import { createCoordination } from './coordination/coordination.ts'
import { createEdgeSide } from './edge-side.ts'
import { createEverywhere } from './everywhere.ts'
import { createHandOvers } from './hand-overs.ts'
import { createLinks, type Links } from './links.ts'
import { type Content, decodeMessage, encodeMessage } from './messages.ts'
import { createNames, type Names } from './names.ts'
import { createOwnerSide } from './owner-side.ts'
import { createPlaces } from './places.ts'
import type { RelayDeps } from './relay-deps.ts'

/** What joins the rooms of all nodes. */
export type Relay = {
  elsewhere: Elsewhere
  others: Others
  coordination: Coordination
  asks: Asks
  /** What verifies the tokens of new connections. */
  numbering(verify: VerifyPlayer): VerifyPlayer
  /** A message of the bus. */
  received(message: Uint8Array): void
  /** How many messages were none. */
  readonly invalid: number
  /** Nothing is under way, and nobody is in a room elsewhere. */
  readonly isEmpty: boolean
  /** Hands over what this node does for all, before it stops. */
  leave(): Promise<void>
  stop(): Promise<void>
}

export function createRelay(deps: RelayDeps): Relay {
  const { membership, metrics, play } = deps
  const names = namesOfRooms(deps)
  const links: Links = createLinks({
    ...deps,
    bootId: membership.bootId,
    asked: (link, ask) => owner.asked(link, ask),
    reported: (link, report) => edge.reported(link, report),
    edgeLinkOver: (link) => edge.linkOver(link),
    ownerLinkOver: (link) => owner.linkOver(link),
  })
  const everywhere = createEverywhere({ ...deps, local: () => play().local })
  const asks = createAsks(deps)
  const edge = createEdgeSide({
    ...{ ...deps, links, forward: everywhere.forward },
    handOver: (older) => handOvers.ask(older),
  })
  const handOvers = createHandOvers({
    ...{ ...deps, asks, seatOf: edge.seatOf, takeDropped: edge.takeDropped },
    takeGiven: edge.takeGiven,
    given: (older, boot_id) => edge.given({ ...older, boot_id }),
  })
  const owner = createOwnerSide({ ...deps, ...everywhere })
  const places = createPlaces({
    ...deps,
    bootId: membership.bootId,
    byId: deps.registry.byId,
    replaced: sendReplaced,
    replacedHere: ({ session_id, participant }) => deps.replaceSession(session_id, participant),
  })
  const coordination = createCoordination({ ...deps, asks, gathered: () => play().gathered })
  deps.registry.watch((participant) => {
    places.touched(participant)
    coordination.touched(participant)
  })
  let invalid = 0

  membership.onChange(() => {
    names.check()
    links.endWith((boot) => membership.isThere(boot))
    metrics.names_suspended = names.serves() ? 0 : 1
  })

  /** The node of an older connection closes it. */
  function sendReplaced(older: readonly Replaced[]): void {
    for (const { boot_id, session_id, participant } of older) {
      const content = { type: 'replaced', session_id, participant } as const
      deps.bus.send(boot_id, encodeMessage(membership.bootId, content))
    }
  }

  function received(message: Uint8Array): void {
    try {
      const { from, content } = decodeMessage(message)
      if (from !== membership.bootId) take(from, content)
    } catch (error) {
      if (!(error instanceof BadMessage)) throw error
      invalid += 1
    }
  }

  function take(from: string, content: Content): void {
    if (content.type === 'asks' || content.type === 'reports' || content.type === 'reset') {
      links.received(from, content)
    } else if (content.type === 'ask' || content.type === 'answer') {
      asks.received(from, content)
    } else if ('generation' in content) {
      coordination.received(from, content)
    } else if (content.type === 'replaced') {
      // It may be late, and the connection a newer one: the directory knows.
      places.look()
    } else if (content.type === 'forward') {
      everywhere.forward(content.participant, content.boot)
    } else {
      everywhere.take(content)
    }
  }

  return {
    elsewhere: {
      isElsewhere: (roomId) => slotOf(roomId) !== membership.slot,
      enter: edge.enter,
      sharesNames: true,
      servesNames: names.serves,
      reserveName: names.reserve,
      releaseName: names.release,
      placeOfNewRoom: () => placeOfNewRoom(membership),
      claim: (account, here) => (deps.graceMs === 0 ? undefined : edge.claim(account, here)),
      connecting: places.connecting,
      arrive: edge.arrive,
      release: edge.release,
      commandTimeoutMs: deps.commandTimeoutMs,
    },
    numbering: places.numbering,
    received,
    get invalid() {
      return invalid
    },
    get isEmpty() {
      return edge.size + owner.size === 0 && names.releasing === 0
    },
    ...{ others: everywhere.others, coordination: coordination.port, asks },
    leave: coordination.leave,
    async stop() {
      coordination.stop()
      edge.stop()
      links.stop()
      await places.stop().catch(() => {})
    },
  }
}

function namesOfRooms(deps: RelayDeps): Names {
  const { play } = deps
  return createNames({
    ...deps,
    visits: {
      closeRooms: (isMeant) => play().visits.closeRooms(isMeant),
      named: () => play().visits.named(),
    },
  })
}

/** On a node that drains, the live one with the fewest rooms. */
function placeOfNewRoom(membership: Membership): string | undefined {
  if (membership.state === 'live') return undefined
  const others = membership.nodes().filter((node) => {
    return node.boot_id !== membership.bootId && !node.isGone && node.state === 'live'
  })
  return others.toSorted((a, b) => a.rooms - b.rooms)[0]?.boot_id
}
