import type { Clock } from '../../kernel/clock.ts'
import type { NameDirectory, NameHolder } from '../../kernel/cluster/directory.ts'
import type { Membership } from '../../kernel/cluster/membership.ts'
import type { Log } from '../../kernel/log/log.ts'
import { late, within } from '../../kernel/time/within.ts'
import type { NameAnswer } from '../play/elsewhere.port.ts'
import type { Visits } from '../play/visits.ts'

/**
 * The names of rooms, unique over all nodes.
 *
 * | state     | what it does                                              | what comes next |
 * |-----------|-----------------------------------------------------------|-----------------|
 * | served    | names are reserved and joined                             | suspended       |
 * | suspended | another node may have taken names over: none is served    | checking        |
 * | checking  | the lease is renewed: rows are held against rooms  | served, suspended |
 */
export type Names = {
  serves(): boolean
  reserve(name: string, roomId: number): Promise<NameAnswer>
  release(name: string, roomId: number): void
  /** To be called when the node's membership may have changed. */
  check(): void
  /** Names whose row is still to be removed. */
  readonly releasing: number
}

export type NamesDeps = {
  directory: NameDirectory
  membership: Pick<Membership, 'bootId' | 'holdsLease' | 'epoch' | 'gone' | 'isThere'>
  clock: Clock
  log: Log
  commandTimeoutMs: number
  visits: Pick<Visits, 'closeRooms' | 'named'>
}

/** Pause before the directory is asked again, in milliseconds. */
const againAfterMs = 100

export function createNames(deps: NamesDeps): Names {
  const { directory, membership, clock, log, visits } = deps
  let servedEpoch = membership.epoch()
  let isChecking = false
  /** Rows that are to go, by name and room. */
  const releases = new Map<string, { name: string; holder: NameHolder }>()
  let isReleasing = false
  /** Rooms that are being made, which no list of rooms has yet. */
  const reserving = new Set<number>()

  const holderOf = (roomId: number): NameHolder => ({
    room_id: roomId,
    boot_id: membership.bootId,
  })

  function serves(): boolean {
    return membership.holdsLease() && membership.epoch() === servedEpoch
  }

  function release(name: string, roomId: number): void {
    reserving.delete(roomId)
    const holder = holderOf(roomId)
    releases.set(`${roomId} ${name}`, { name, holder })
    void releaseAll()
  }

  async function releaseAll(): Promise<void> {
    if (isReleasing) return
    isReleasing = true
    for (const [key, { name, holder }] of releases) {
      try {
        await directory.releaseName(name, holder)
        releases.delete(key)
      } catch {
        // The next look at the membership tries again.
        break
      }
    }
    isReleasing = false
  }

  async function reserve(name: string, roomId: number): Promise<NameAnswer> {
    const giveUpAtMs = clock.monotonicMs() + deps.commandTimeoutMs
    reserving.add(roomId)
    for (;;) {
      if (!serves()) return giveUp(roomId)
      const epoch = membership.epoch()
      const asked = directory.reserveName(name, holderOf(roomId), membership.gone())
      const leftMs = giveUpAtMs - clock.monotonicMs()
      const answer = await within(clock, leftMs, asked).catch((): typeof late => late)
      if (answer === late) {
        // The row may be there all the same, now or later.
        const undo = () => release(name, roomId)
        asked.then(undo, undo)
        return giveUp(roomId)
      }
      const isOwn = answer.room_id === roomId && answer.boot_id === membership.bootId
      if (!serves() || membership.epoch() !== epoch) {
        if (isOwn) release(name, roomId)
        return giveUp(roomId)
      }
      if (isOwn) return { is: 'reserved' }
      if (answer.boot_id !== membership.bootId && membership.isThere(answer.boot_id)) {
        reserving.delete(roomId)
        return { is: 'held', boot: answer.boot_id }
      }
      // A room of this node that has ended, or a node that is not known to be gone yet.
      if (clock.monotonicMs() >= giveUpAtMs) return giveUp(roomId)
      await clock.sleep(againAfterMs)
    }
  }

  function giveUp(roomId: number): NameAnswer {
    reserving.delete(roomId)
    return { is: 'unavailable' }
  }

  /** Holds the rows against the rooms, after a time in which others may have taken some over. */
  async function checkRows(): Promise<void> {
    const epoch = membership.epoch()
    const rows = await directory.namesOf(membership.bootId)
    if (!membership.holdsLease() || membership.epoch() !== epoch) return
    const own = new Map(rows.map(({ name, room_id }) => [room_id, name]))
    const lost = visits.named().filter(({ id, name }) => own.get(id) !== name)
    for (const { id, name } of lost) log.warn('a room has lost its name', { room_id: id, name })
    const lostIds = new Set(lost.map(({ id }) => id))
    visits.closeRooms(({ id }) => lostIds.has(id))
    const rooms = new Set(visits.named().map(({ id }) => id))
    for (const [roomId, name] of own) {
      if (!rooms.has(roomId) && !reserving.has(roomId)) release(name, roomId)
    }
    servedEpoch = epoch
  }

  return {
    serves,
    reserve,
    release,
    check() {
      if (releases.size > 0) void releaseAll()
      if (isChecking || serves() || !membership.holdsLease()) return
      isChecking = true
      checkRows()
        .catch((error) => log.warn('the names of rooms could not be read', { error }))
        .finally(() => {
          isChecking = false
        })
    },
    get releasing() {
      return releases.size
    },
  }
}
