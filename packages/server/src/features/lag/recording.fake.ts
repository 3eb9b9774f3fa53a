import { type DiagStatus, diagFlushBody, diagStartBody, kinds } from '@guildhall/contract'
import type {
  EnvelopeObserver,
  RecordingListener,
  RecordingPlayer,
  RecordingPlayers,
} from '../../kernel/play/recording.ts'

/** Somebody who is connected, as a test changes it. */
export type FakePlayer = { -readonly [K in keyof RecordingPlayer]: RecordingPlayer[K] }

export type FakeRecording = {
  readonly players: RecordingPlayers
  readonly connected: Map<number, FakePlayer>
  /** What was sent: `37` behind an offer is `34 37`. */
  readonly sent: { participant: number; kinds: number[]; body: Uint8Array }[]
  readonly observers: Map<number, EnvelopeObserver>
  /** A connected account that can record, in room 7. */
  join(participant: number, more?: Partial<FakePlayer>): FakePlayer
  leave(participant: number): void
  withdraw(participant: number): void
  say(participant: number, status: Partial<DiagStatus>): boolean
  /** The newest DIAG_FLUSH of a participant. */
  flushOf(participant: number): ReturnType<typeof diagFlushBody.decode>
  startOf(participant: number): ReturnType<typeof diagStartBody.decode>
}

export const matchOfRoom = `mt1-${'a'.repeat(29)}`

/** Clients that answer when a test says so. */
export function createFakeRecording(): FakeRecording {
  const connected = new Map<number, FakePlayer>()
  const observers = new Map<number, EnvelopeObserver>()
  const sent: FakeRecording['sent'] = []
  let listener: RecordingListener | undefined

  function deliver(participant: number, sentKinds: number[], body: Uint8Array): boolean {
    if (connected.get(participant)?.canRecord !== true) return false
    sent.push({ participant, kinds: sentKinds, body })
    return true
  }

  function newest(participant: number, kind: number): Uint8Array {
    const found = sent.findLast((each) => {
      return each.participant === participant && each.kinds.includes(kind)
    })
    if (found === undefined) throw new Error(`no ${kind} was sent to ${participant}`)
    return found.body
  }

  return {
    connected,
    sent,
    observers,
    players: {
      find: (participant) => connected.get(participant),
      ofAccount: (userId) =>
        [...connected.values()]
          .filter(({ user_id }) => user_id === userId)
          .map(({ participant }) => participant),
      ofRoom(roomId) {
        const members = [...connected.values()].filter(({ room_id }) => room_id === roomId)
        if (members.length === 0) return undefined
        const participants = members.map(({ participant }) => participant)
        return { match_id: matchOfRoom, participants }
      },
      offer: (participant, kind, body) =>
        deliver(participant, [kinds.DIAG_SERVER_TIME.first, kind], body),
      send: (participant, kind, body) => deliver(participant, [kind], body),
      observe(participant, observer) {
        if (observer === undefined) observers.delete(participant)
        else observers.set(participant, observer)
      },
      listen(by) {
        listener = by
      },
    },
    join(participant, more = {}) {
      const player = {
        participant,
        user_id: `user-${participant}`,
        session_id: `s-${participant}`,
        room_id: 7,
        canRecord: true,
        ...more,
      }
      connected.set(participant, player)
      return player
    },
    leave(participant) {
      connected.delete(participant)
      observers.delete(participant)
      listener?.left(participant)
    },
    withdraw(participant) {
      const player = connected.get(participant)
      if (player !== undefined) player.canRecord = false
      listener?.withdrew(participant)
    },
    say: (participant, status) =>
      listener?.said(participant, {
        capture_id: '',
        generation: 1,
        state: 'recording',
        attempt: 0,
        packets: 0,
        dropped: 0,
        bytes: 0,
        ...status,
      }) ?? false,
    flushOf: (participant) => diagFlushBody.decode(newest(participant, kinds.DIAG_FLUSH.first)),
    startOf: (participant) => diagStartBody.decode(newest(participant, kinds.DIAG_START.first)),
  }
}
