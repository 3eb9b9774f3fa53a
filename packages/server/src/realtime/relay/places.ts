import { sharedReads } from '../../kernel/batching/shared-reads.ts'
import type { Clock, Timer } from '../../kernel/clock.ts'
import type {
  PlaceChanges,
  Replaced,
  SeatRow,
  SessionDirectory,
  SessionRow,
} from '../../kernel/cluster/directory.ts'
import type { Log } from '../../kernel/log/log.ts'
import { late, within } from '../../kernel/time/within.ts'
import type { Participant } from '../play/participants/participant.ts'
import type { Receiver } from '../play.port.ts'
import type { VerifyPlayer } from '../ports.ts'
import { createRecent } from './recent.ts'

/**
 * Writes where the accounts of this node are: the connection of each session, and the seats of its
 * rooms. Changes are gathered, and what could not be written is written with the next ones.
 */
export type Places = {
  /** Has each connection take a number while `verify` looks at its token. */
  numbering(verify: VerifyPlayer): VerifyPlayer
  /** Resolves once the new connection of the session has its number, or is to do without. */
  connecting(sessionId: string): Promise<void> | undefined
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
/** A directory that takes so much longer for a number than for a token keeps nobody waiting. */
const numberWithinMs = 250
/** How long a number waits for its connection to arrive. */
const arriveWithinMs = 60_000

/** The number of a connection, and when that is settled. */
type Taken = { number: number; settled: Promise<void> | undefined }

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
  const numbers = new WeakMap<Receiver, number>()
  /** The numbers of connections that have not arrived yet, by session. */
  const taken = createRecent<Taken>(clock, arriveWithinMs)
  const nextNumber = sharedReads(() => directory.nextNumber())
  /** The last number that this node was given. */
  let heard = 0
  /** Since when a question for a number has no answer. */
  let unansweredSinceMs: number | undefined
  let timer: Timer | undefined
  let isWriting = false
  let isStopped = false
  /** Writings and looks follow each other: a look knows which rows were there before it. */
  let turn = Promise.resolve()
  let isLookPlanned = false
  const looks = clock.every(lookMs, planLook)
  hear()

  function inTurn(work: () => Promise<void>): Promise<void> {
    turn = turn.then(work)
    return turn
  }

  function planLook(): void {
    hear()
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
    const next = ids.map((id) => rowsOf(deps.byId(id)))
    let failed = false
    try {
      const changes = changesOf(ids, next)
      const first = next.filter(isFirst)
      const isNew = new Set(first.map(({ session }) => session?.session_id))
      const { replaced, older } = await directory.writePlaces(changes)
      deps.replaced(replaced.filter(({ session_id }) => isNew.has(session_id)))
      const isOlder = new Set(older)
      for (const [at, id] of ids.entries()) {
        const { session, ...rows } = next[at] ?? {}
        if (session === undefined || !isOlder.has(session.session_id)) keep(id, next[at])
        else {
          keep(id, rows)
          if (deps.byId(id)?.receiver === rows.of) deps.replacedHere(session)
        }
      }
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

  /** Beside everything else: looks and writings go on without it. */
  function hear(): void {
    hearNumber().catch(noNumber)
  }

  async function hearNumber(): Promise<number> {
    unansweredSinceMs ??= clock.monotonicMs()
    try {
      const number = await nextNumber('', undefined)
      heard = Math.max(heard, number)
      return number
    } finally {
      unansweredSinceMs = undefined
    }
  }

  /** Without an answer it counts as older than what connects elsewhere from here on. */
  function numberOf(answer: Promise<number | typeof late>, before: number): Taken {
    const of: Taken = { number: before, settled: undefined }
    const sinceMs = unansweredSinceMs ?? Number.POSITIVE_INFINITY
    if (clock.monotonicMs() - sinceMs > numberWithinMs) return of
    of.settled = within(clock, numberWithinMs, answer).then((number) => {
      if (number !== late) of.number = number
      of.settled = undefined
    })
    return of
  }

  /** What the directory is to say of a participant. */
  function rowsOf(participant: Participant | undefined): Rows {
    if (participant === undefined) return {}
    const { context, session_id, isConnected, relayed, room, receiver: of } = participant
    const { user_id, participant: id } = context
    if (user_id === null || session_id === null) return {}
    const base = { session_id, user_id, participant: id, boot_id: deps.bootId }
    if (!isConnected) return room === undefined ? {} : { of, seat: { ...base, room_id: room.id } }
    if (relayed) return {}
    return { of, session: { ...base, room_id: context.room_id, number: numbers.get(of) ?? heard } }
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
    numbering: (verify) => async (token) => {
      const before = heard
      const answer = hearNumber().catch(noNumber)
      const player = await verify(token)
      if (player !== undefined) taken.set(player.session_id, numberOf(answer, before))
      return player
    },
    connecting: (sessionId) => taken.get(sessionId)?.settled,
    touched(participant) {
      const { context, session_id, receiver, isConnected, relayed } = participant
      if (context.user_id === null || session_id === null || isStopped) return
      if (isConnected && !relayed && !numbers.has(receiver)) {
        numbers.set(receiver, taken.take(session_id)?.number ?? heard)
      }
      touched.add(context.participant)
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

const noNumber = (): typeof late => late

const nothing: Written = { of: undefined, sessions: [], seats: [], isSure: true }

/** Whether the directory surely has exactly this row. */
function has<Row>({ isSure }: Written, rows: readonly Row[], row: Row): boolean {
  return isSure && JSON.stringify(rows[0]) === JSON.stringify(row)
}
