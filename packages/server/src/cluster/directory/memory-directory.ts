import type {
  Directory,
  NameHolder,
  NodeRow,
  Replaced,
  Role,
  SeatRow,
  SeenBoot,
  SessionRow,
} from '../../kernel/cluster/directory.ts'

/**
 * A directory for the nodes of one process: for tests, and for the simulation. `createDirectory`
 * of the store behaves the same.
 */
export function createMemoryDirectory(): Directory {
  const nodes = new Map<number, NodeRow>()
  const freedAt = new Map<number, number>()
  const freedSince = (slot: number): number => freedAt.get(slot) ?? 0
  const names = new Map<string, NameHolder>()
  const sessions = new Map<string, SessionRow>()
  /** By session, the connection that its present one has replaced, until its node took it. */
  const replaced = new Map<string, Replaced>()
  const seats = new Map<string, SeatRow>()
  const roles = new Map<string, Role>()
  let count = 0
  let numbers = 0

  const byBoot = (bootId: string) => [...nodes.values()].find((row) => row.boot_id === bootId)
  /** Of these boots, those that have not renewed since they were read; unknown ones are over. */
  const mayTake = (holder: string, gone: readonly SeenBoot[]) => {
    const row = byBoot(holder)
    if (row === undefined) return true
    return gone.some(({ boot_id, renewals }) => boot_id === holder && renewals === row.renewals)
  }

  function removeBoot(row: NodeRow): void {
    count += 1
    nodes.delete(row.slot)
    freedAt.set(row.slot, count)
    for (const [name, { boot_id }] of names) if (boot_id === row.boot_id) names.delete(name)
    for (const [id, { boot_id }] of sessions) if (boot_id === row.boot_id) sessions.delete(id)
    for (const [key, { boot_id }] of seats) if (boot_id === row.boot_id) seats.delete(key)
    for (const [role, held] of roles) {
      if (held.holder === row.boot_id) roles.set(role, { ...held, holder: '' })
    }
  }

  return {
    async claimSlot(boot) {
      let first: number | undefined
      for (let slot = 1; slot <= slotMax; slot += 1) {
        if (nodes.has(slot)) continue
        if (first === undefined || freedSince(slot) < freedSince(first)) first = slot
      }
      if (first === undefined) throw new Error('all slots of the deployment are taken')
      nodes.set(first, { ...boot, slot: first, renewals: 1, rooms: 0, connections: 0 })
      return first
    },
    async renew({ slot, boot_id, state, rooms, connections }) {
      const row = nodes.get(slot)
      if (row?.boot_id !== boot_id) return false
      nodes.set(slot, { ...row, state, rooms, connections, renewals: row.renewals + 1 })
      return true
    },
    nodes: async () => [...nodes.values()].toSorted((a, b) => a.slot - b.slot),
    async leave(bootId) {
      const row = byBoot(bootId)
      if (row !== undefined) removeBoot(row)
    },
    async free({ boot_id, renewals }) {
      const row = byBoot(boot_id)
      if (row?.renewals !== renewals) return false
      removeBoot(row)
      return true
    },
    async reserveName(name, holder, gone) {
      const held = names.get(name)
      if (held !== undefined && !mayTake(held.boot_id, gone)) return held
      names.set(name, holder)
      return holder
    },
    async releaseName(name, { room_id, boot_id }) {
      const held = names.get(name)
      if (held?.room_id === room_id && held.boot_id === boot_id) names.delete(name)
    },
    async namesOf(bootId) {
      const own = [...names].filter(([, { boot_id }]) => boot_id === bootId)
      return own.map(([name, { room_id }]) => ({ name, room_id }))
    },
    async nextNumber() {
      numbers += 1
      return numbers
    },
    async writePlaces(changes) {
      for (const { session_id, boot_id, participant } of changes.ended) {
        const row = sessions.get(session_id)
        if (row?.boot_id === boot_id && row.participant === participant) sessions.delete(session_id)
      }
      for (const row of changes.endedSeats) seats.delete(keyOf(row))
      const isOlder = ({ session_id, boot_id, number }: SessionRow) => {
        const before = sessions.get(session_id)
        return before !== undefined && before.boot_id !== boot_id && number <= before.number
      }
      const older = changes.sessions.filter(isOlder).map(({ session_id }) => session_id)
      const written = changes.sessions.filter((row) => !isOlder(row))
      for (const row of written) {
        const before = sessions.get(row.session_id)
        if (before === undefined) replaced.delete(row.session_id)
        else if (before.boot_id !== row.boot_id) replaced.set(row.session_id, before)
        sessions.set(row.session_id, row)
      }
      for (const row of changes.seats) {
        seats.delete(keyOf(row))
        seats.set(keyOf(row), row)
      }
      const found = written.flatMap(({ session_id }) => replaced.get(session_id) ?? [])
      return { older, replaced: found }
    },
    async takeReplaced(bootId) {
      const taken = [...replaced.values()].filter(({ boot_id }) => boot_id === bootId)
      for (const { session_id } of taken) replaced.delete(session_id)
      return taken
    },
    async placesOf(userIds) {
      const wanted = new Set(userIds)
      const isOf = ({ user_id }: { user_id: string }) => wanted.has(user_id)
      return {
        sessions: [...sessions.values()].filter(isOf),
        seats: [...seats.values()].filter(isOf),
      }
    },
    async takeRole(role, boot, gone) {
      const held = roles.get(role)
      const isFree = held === undefined || held.holder === '' || mayTake(held.holder, gone)
      if (!isFree) return held
      const taken = { holder: boot, generation: (held?.generation ?? 0) + 1 }
      roles.set(role, taken)
      return taken
    },
    async releaseRole(role, held) {
      const now = roles.get(role)
      if (now?.holder === held.holder && now.generation === held.generation) {
        roles.set(role, { ...now, holder: '' })
      }
    },
  }
}

function keyOf({ participant, boot_id }: Pick<SeatRow, 'participant' | 'boot_id'>): string {
  return `${boot_id} ${participant}`
}

const slotMax = 4095
