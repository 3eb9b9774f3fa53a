import { createWaitBatch } from '../../../kernel/batching/wait-batch.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { type OutgoingFrame, positionFrame } from '../../frames/outgoing-frame.ts'
import type { GatewayMetrics } from '../../metrics.ts'
import type { Member } from '../rooms/member.ts'
import type { Room } from '../rooms/room.ts'
import type { Participant } from './participant.ts'
import type { Registry } from './registry.ts'

type PositionRelayDeps = {
  clock: Clock
  metrics: GatewayMetrics
  registry: Pick<Registry, 'roomless'>
}

/** Passes a position to the sender's peers; false when they are too many for that. */
export type PositionRelay = (sender: Participant, position: Uint8Array) => boolean

/** Those who get each other's positions: the members of a room, or all who are in none. */
type Group = Room | Set<Participant>

/** Positions of one group that wait to be passed on together: the newest of each sender. */
type Round = Map<Participant, Waiting>
/** `replaced` counts the older ones that it stands for. */
type Waiting = { frame: OutgoingFrame; replaced: number }

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
  /** Groups whose last round took long. */
  const resting = new Set<Group>()
  const waits = createWaitBatch<Group>({ clock, waitMs }, pass)

  function roundOf(group: Group): Round {
    const known = rounds.get(group)
    if (known !== undefined) return known
    const round: Round = new Map()
    rounds.set(group, round)
    return round
  }

  /**
   * A round of a large group may take longer than the wait for the next one. It rests for as long
   * as that took, so that endless positions have half of the time at most.
   */
  function pass(group: Group): void {
    const beganMs = clock.monotonicMs()
    passOn(group)
    const tookMs = clock.monotonicMs() - beganMs
    if (tookMs <= waitMs / 2) return
    resting.add(group)
    clock.after(tookMs, () => {
      resting.delete(group)
      if (rounds.has(group)) waits.add(group)
    })
  }

  /** To those who are in the group now, what those have sent who still are. */
  function passOn(group: Group): void {
    const round: Round = rounds.get(group) ?? new Map()
    rounds.delete(group)
    if (isTooLarge(group)) {
      metrics.unhandled_kind_total += round.size
      return
    }
    const positions: OutgoingFrame[] = []
    for (const [sender, { frame, replaced }] of round) {
      if (replaced > 0) metrics.unreliable_coalesced_total += replaced * peersOf(group, sender)
      if (isIn(group, sender)) positions.push(frame)
    }
    if (positions.length === 0) return
    for (const { receiver, context } of membersOf(group)) {
      receiver.deliverPositions(positions, context.participant)
    }
  }

  return (sender, position) => {
    const group = sender.room ?? roomless
    if (isTooLarge(group)) return false
    const size = sizeOf(group)
    if (size < 2) return true
    const round = roundOf(group)
    const waiting = round.get(sender)
    const frame = positionFrame(sender.context.participant, position)
    if (waiting === undefined) round.set(sender, { frame, replaced: 0 })
    else {
      waiting.frame = frame
      waiting.replaced += 1
    }
    if (resting.has(group)) return true
    waits.add(group)
    if (round.size >= size && round.keys().every((each) => isIn(group, each))) {
      waits.remove(group)
      pass(group)
    }
    return true
  }
}

function isTooLarge(group: Group): boolean {
  return group instanceof Set && group.size - 1 > roomlessPeersMax
}

function isIn(group: Group, participant: Participant): boolean {
  return group instanceof Set ? group.has(participant) : participant.room === group
}

/** The others for whom a position waits; nothing waits for one who has no connection. */
function peersOf(group: Group, sender: Participant): number {
  let count = 0
  for (const member of membersOf(group)) {
    if (member !== sender && member.isConnected) count += 1
  }
  return count
}

function sizeOf(group: Group): number {
  return group instanceof Set ? group.size : group.members.length
}

function membersOf(group: Group): Iterable<Member> {
  return group instanceof Set ? group : group.members
}
