import type { Clock } from '../../kernel/clock.ts'
import type { GatewayMetrics } from '../metrics.ts'
import type { Registry } from '../registry.ts'
import type { Room } from '../rooms/room.ts'
import { type OutgoingFrame, positionFrame } from '../send-queue/outgoing-frame.ts'
import { createWaitBatch } from '../send-queue/wait-batch.ts'
import type { Participant } from '../session/live/participant.ts'

type PositionRelayDeps = {
  clock: Clock
  metrics: GatewayMetrics
  registry: Pick<Registry, 'roomless'>
}

/** Passes a position to the sender's peers; false when they are too many for that. */
export type PositionRelay = (sender: Participant, position: Uint8Array) => boolean

/** Those who get each other's positions: the members of a room, or all who are in none. */
type Group = Room | Set<Participant>

/** Positions of one group that wait to be passed on together, by their sender: its newest. */
type Round = Map<number, OutgoingFrame>

/** Above this many peers a position outside rooms is not passed on. */
const roomlessPeersMax = 256

/**
 * How long a position may wait for those of the others; it waits for half of that at least, unless
 * they are all there. They come one by one, and a write to a socket costs more than all else about
 * them.
 */
const waitMs = 2

export function createPositionRelay({
  clock,
  metrics,
  registry,
}: PositionRelayDeps): PositionRelay {
  const { roomless } = registry
  const rounds = new Map<Group, Round>()
  const waits = createWaitBatch<Group>({ clock, waitMs }, pass)

  function roundOf(group: Group): Round {
    const known = rounds.get(group)
    if (known !== undefined) return known
    const round: Round = new Map()
    rounds.set(group, round)
    waits.add(group)
    return round
  }

  function pass(group: Group): void {
    const positions = [...(rounds.get(group)?.values() ?? [])]
    rounds.delete(group)
    for (const { receiver, context } of membersOf(group)) {
      receiver.deliverPositions(positions, context.participant)
    }
  }

  return ({ room, context }, position) => {
    if (room === undefined && roomless.size - 1 > roomlessPeersMax) return false
    const group = room ?? roomless
    const size = sizeOf(group)
    if (size < 2) return true
    const { participant } = context
    const round = roundOf(group)
    if (round.has(participant)) metrics.unreliable_coalesced_total += size - 1
    round.set(participant, positionFrame(participant, position))
    if (round.size >= size) {
      waits.remove(group)
      pass(group)
    }
    return true
  }
}

function sizeOf(group: Group): number {
  return group instanceof Set ? group.size : group.members.length
}

function membersOf(group: Group): Iterable<Participant> {
  return group instanceof Set ? group : group.members
}
