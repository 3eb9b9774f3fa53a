import type { Clock, Timer } from '../../kernel/clock.ts'
import type {
  PlaceChanges,
  Replaced,
  SeatRow,
  SessionDirectory,
  SessionRow,
} from '../../kernel/cluster/directory.ts'
import type { Log } from '../../kernel/log/log.ts'
import type { Participant } from '../play/participants/participant.ts'
import type { Receiver } from '../play.port.ts'

/**
 * Writes where the accounts of this node are: the connection of each session, and the seats of its
 * rooms. Changes are gathered, and what could not be written is written with the next ones.
 */
export type Places = {
  /** Something about a participant may have changed. */
  touched(participant: Participant): void
  /** Asks the directory whether connections of this node have later ones elsewhere. */
  look(): void
  /** Writes what is left, once. */
  stop(): Promise<void>
}

export type PlacesDeps = {
  directory: SessionDirectory
  clock: Clock
  log: Log
  bootId: string
  /** The participant of this id, unless it has ended. */
  byId(participant: number): Participant | undefined
  /** Others had connections of sessions that are connected here now. */
  replaced(older: readonly Replaced[]): void
  /** A connection of this node has a later one elsewhere. */
  replacedHere(older: Replaced): void
}

const gatherMs = 200
const againAfterMs = 1000
/** How often the directory is asked what a lost message of the bus would have said. */
const lookMs = 500

/** `of`: the connection that the rows are of; a later one of the participant has the same rows. */
type Rows = { of?: Receiver; session?: SessionRow; seat?: SeatRow }
/** Rows of a participant that the directory may have; surely so if the last writing succeeded. */
type Written = {
  of: Receiver | undefined
  sessions: SessionRow[]
  seats: SeatRow[]
  isSure: boolean
}

export function createPlaces(deps: PlacesDeps): Places {
  const { directory, clock, log } = deps
  const touched = new Set<number>()
  const written = new Map<number, Written>()
  let timer: Timer | undefined
  let isWriting = false
  let isStopped = false
  /** Writings and looks follow each other: a look knows which rows were there before it. */
  let turn = Promise.resolve()
  let isLookPlanned = false
  const looks = clock.every(lookMs, planLook)

  function inTurn(work: () => Promise<void>): Promise<void> {
    turn = turn.then(work)
    return turn
  }

  function planLook(): void {
    if (isLookPlanned) return
    isLookPlanned = true
    void inTurn(look)
  }

  function plan(delayMs: number): void {
    if (timer !== undefined || isWriting || isStopped || touched.size === 0) return
    timer = clock.after(delayMs, () => {
      timer = undefined
      isWriting = true
      void inTurn(write)
    })
  }

  async function write(): Promise<void> {
    const ids = [...touched]
    touched.clear()
    const next = ids.map((id) => rowsOf(deps.byId(id), deps.bootId))
    let failed = false
    try {
      const changes = changesOf(ids, next)
      const first = next.filter(isFirst)
      const isNew = new Set(first.map(({ session }) => session?.session_id))
      const older = await directory.writePlaces(changes)
      deps.replaced(older.filter(({ session_id }) => isNew.has(session_id)))
      for (const [at, id] of ids.entries()) keep(id, next[at])
    } catch (error) {
      failed = true
      log.warn('places of players could not be written', { players: ids.length, error })
      for (const [at, id] of ids.entries()) {
        touched.add(id)
        doubt(id, next[at])
      }
    }
    isWriting = false
    plan(failed ? againAfterMs : gatherMs)
  }

  function isFirst({ of, session }: Rows): boolean {
    return session !== undefined && !isKept(session, of)
  }

  function isKept({ participant, session_id }: SessionRow | Replaced, of?: Receiver): boolean {
    const before = written.get(participant)
    if (before === undefined || !before.isSure || before.of !== of) return false
    return before.sessions[0]?.session_id === session_id
  }

  async function look(): Promise<void> {
    isLookPlanned = false
    try {
      for (const older of await directory.takeReplaced(deps.bootId)) {
        // What is not written yet came after the connection that was replaced.
        if (isKept(older, deps.byId(older.participant)?.receiver)) deps.replacedHere(older)
      }
    } catch {
      // The next look has it.
    }
  }

  function keep(participant: number, { of, session, seat }: Rows = {}): void {
    const [sessions, seats] = [session ? [session] : [], seat ? [seat] : []]
    if (sessions.length + seats.length === 0) written.delete(participant)
    else written.set(participant, { of, sessions, seats, isSure: true })
  }

  /** What has failed may be there all the same: it is written again, and removed at its end. */
  function doubt(participant: number, { of, session, seat }: Rows = {}): void {
    const before = written.get(participant)
    const sessions = [...(before?.sessions ?? []), ...(session ? [session] : [])]
    const seats = [...(before?.seats ?? []), ...(seat ? [seat] : [])]
    written.set(participant, { of, sessions, seats, isSure: false })
  }

  function changesOf(ids: readonly number[], next: readonly Rows[]): PlaceChanges {
    const changes = {
      sessions: [] as SessionRow[],
      ended: [] as SessionRow[],
      seats: [] as SeatRow[],
      endedSeats: [] as SeatRow[],
    }
    for (const [at, id] of ids.entries()) {
      const before = written.get(id) ?? nothing
      const { of, session, seat } = next[at] ?? {}
      const isSame = session && before.of === of && has(before, before.sessions, session)
      if (session && !isSame) changes.sessions.push(session)
      for (const row of before.sessions) {
        if (row.session_id !== session?.session_id) changes.ended.push(row)
      }
      if (seat && !has(before, before.seats, seat)) changes.seats.push(seat)
      if (seat === undefined) changes.endedSeats.push(...before.seats)
    }
    return changes
  }

  return {
    touched({ context: { user_id, participant } }) {
      if (user_id === null || isStopped) return
      touched.add(participant)
      plan(gatherMs)
    },
    look: planLook,
    async stop() {
      timer?.cancel()
      looks.cancel()
      timer = undefined
      isStopped = true
      if (touched.size > 0 && !isWriting) await inTurn(write)
    },
  }
}

/** What the directory is to say of a participant. */
function rowsOf(participant: Participant | undefined, boot_id: string): Rows {
  if (participant === undefined) return {}
  const { context, session_id, isConnected, relayed, room, receiver: of } = participant
  const { user_id, participant: id } = context
  if (user_id === null || session_id === null) return {}
  const base = { session_id, user_id, participant: id, boot_id }
  if (isConnected) return relayed ? {} : { of, session: { ...base, room_id: context.room_id } }
  return room === undefined ? {} : { of, seat: { ...base, room_id: room.id } }
}

const nothing: Written = { of: undefined, sessions: [], seats: [], isSure: true }

/** Whether the directory surely has exactly this row. */
function has<Row>({ isSure }: Written, rows: readonly Row[], row: Row): boolean {
  return isSure && JSON.stringify(rows[0]) === JSON.stringify(row)
}
