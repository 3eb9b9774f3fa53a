import { kinds, sessionFlags } from '@guildhall/contract'
import { isStateFull } from '@guildhall/contract/state'
import type { Clock } from '../../../../kernel/clock.ts'
import type { RoomStates } from '../../../../kernel/play/room-commands.ts'
import type { StateHooks } from '../../../../kernel/play/room-hooks.ts'
import { createDeadlineQueue } from '../../../../kernel/time/deadline-queue.ts'
import { outgoingFrame } from '../../../frames/outgoing-frame.ts'
import type { Participant } from '../../participants/participant.ts'
import type { Registry } from '../../participants/registry.ts'
import type { Following } from '../member.ts'
import type { Room } from '../room.ts'

/** Which members follow the states of their rooms, and what they are sent of them. */
export type StateFollowing = Pick<RoomStates, 'deliverState'> & {
  /** A connected member has come into a room, or has returned to its seat. */
  entered(participant: Participant): void
  /** It is out of the room, or its connection is lost. */
  left(participant: Participant, room: Room | undefined): void
  /** What its client asks for has changed. */
  asked(participant: Participant): void
  /** The script has the state of the room anew: its members get it as a whole. */
  begunAnew(participants: Iterable<Participant>): void
  stop(): void
}

type FollowingDeps = {
  clock: Clock
  hooks: Pick<StateHooks, 'stateWatch'>
  registry: Pick<Registry, 'byId'>
}

/** Whom a message is for: their ids, and who they were found to be, in the same order. */
type Heard = {
  readonly ids: readonly number[]
  readonly participants: readonly (Participant | undefined)[]
}

/** A lane that holds more than this is of a slow reader, and one below the other has caught up. */
const behindBytes = 65_536
const caughtUpBytes = 32_768
/** A client that asks again within a second is answered when the second is over. */
const askedEveryMs = 1_000

export function createStateFollowing({ clock, hooks, registry }: FollowingDeps): StateFollowing {
  const recent = new Set<Participant>()
  const wanting = new Set<Participant>()
  /** Of the newest message of each room for several: mostly the next one is for the same. */
  const newest = new WeakMap<Room, Heard>()
  const rests = createDeadlineQueue<Participant>({ clock, delayMs: askedEveryMs }, (member) => {
    recent.delete(member)
    if (wanting.delete(member)) asked(member)
  })

  function follows({ room, flags, isConnected }: Participant): boolean {
    return room?.state !== undefined && isConnected && (flags & sessionFlags.room_state) !== 0
  }

  function ask(participant: Participant): void {
    participant.following = { stage: 'waiting', wholeBytes: 0 }
    hooks.stateWatch(participant.context, true)
  }

  function end(participant: Participant): void {
    participant.following = undefined
    wanting.delete(participant)
  }

  function asked(participant: Participant): void {
    const isWanted = follows(participant)
    if (isWanted === (participant.following !== undefined)) return
    if (!isWanted) {
      end(participant)
      hooks.stateWatch(participant.context, false)
    } else if (recent.has(participant)) {
      wanting.add(participant)
    } else {
      recent.add(participant)
      rests.add(participant)
      ask(participant)
    }
  }

  /** Whether one that has had its whole may have more; one that has caught up asks for another. */
  function mayHear(participant: Participant, following: Following): boolean {
    const waiting = participant.receiver.backlogBytes?.() ?? 0
    if (following.stage === 'behind') {
      if (waiting < caughtUpBytes) ask(participant)
      return false
    }
    if (waiting < caughtUpBytes) following.wholeBytes = 0
    if (waiting <= behindBytes + following.wholeBytes) return true
    following.stage = 'behind'
    return false
  }

  /** Who was found for the message before is not looked up again. */
  function heardBy(ids: readonly number[]): Heard {
    const room = ids.length > 1 ? registry.byId(ids[0] ?? 0)?.room : undefined
    const before = room && newest.get(room)
    if (before !== undefined && isSame(before.ids, ids)) return before
    const heard = { ids, participants: ids.map((id) => registry.byId(id)) }
    if (room !== undefined) newest.set(room, heard)
    return heard
  }

  return {
    entered(participant) {
      if (follows(participant)) ask(participant)
    },
    left(participant, room) {
      end(participant)
      if (room !== undefined) newest.delete(room)
    },
    asked,
    begunAnew(participants) {
      for (const participant of participants) if (follows(participant)) ask(participant)
    },
    deliverState({ room_id, body, participants }) {
      const isWhole = isStateFull(body)
      const frame = outgoingFrame(kinds.ROOM_STATE.first, body)
      const { participants: known } = heardBy(participants)
      for (let n = 0; n < known.length; n += 1) {
        const participant = followerIn(known, n) ?? registry.byId(participants[n] ?? 0)
        const following = participant?.following
        if (participant === undefined || following === undefined) continue
        if (participant.room?.id !== room_id) continue
        const mayHave = following.stage === 'waiting' ? isWhole : mayHear(participant, following)
        if (!mayHave) continue
        if (isWhole) participant.following = { stage: 'synced', wholeBytes: body.length }
        participant.receiver.deliver(frame, false)
      }
    },
    stop() {
      for (const participant of recent) rests.remove(participant)
    },
  }
}

function isSame(before: readonly number[], now: readonly number[]): boolean {
  if (before.length !== now.length) return false
  for (let n = 0; n < now.length; n += 1) if (before[n] !== now[n]) return false
  return true
}

/** One that follows nothing any more may have another one in its place. */
function followerIn(known: Heard['participants'], at: number): Participant | undefined {
  const participant = known[at]
  return participant?.following === undefined ? undefined : participant
}
