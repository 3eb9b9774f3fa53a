import type { DiagStatus } from '@guildhall/contract'
import type {
  RecordingListener,
  RecordingPlayer,
  RecordingPlayers,
} from '../../../kernel/play/recording.ts'
import type { LiveConnection } from '../live/live-connection.ts'

/** The connections whose clients can record, and what the edge reports of them. */
export type RecordingClients = {
  /** What captures ask. */
  readonly players: RecordingPlayers
  /** The client can record; `offer` sends it a new offer of server time. */
  marked(live: LiveConnection, offer: (live: LiveConnection) => void): void
  withdrew(live: LiveConnection): void
  /** False when the client takes part in no such capture. */
  said(live: LiveConnection, status: DiagStatus): boolean
  left(participant: number): void
}

type Client = { live: LiveConnection; offer: (live: LiveConnection) => void }

const nobodyListens: RecordingListener = {
  said: () => false,
  withdrew: () => {},
  left: () => {},
}

/** Who plays on this node. */
type Playing = Pick<RecordingPlayers, 'ofAccount' | 'ofRoom'> & {
  find(participant: number): Omit<RecordingPlayer, 'canRecord'> | undefined
}

export function createRecordingClients(playing: Playing): RecordingClients {
  const clients = new Map<number, Client>()
  let listener = nobodyListens

  return {
    players: {
      find(participant) {
        const known = playing.find(participant)
        return known && { ...known, canRecord: clients.has(participant) }
      },
      ofAccount: playing.ofAccount,
      ofRoom: playing.ofRoom,
      offer(participant, kind, body) {
        const client = clients.get(participant)
        if (client === undefined) return false
        client.offer(client.live)
        client.live.send(kind, body)
        return clients.has(participant)
      },
      send(participant, kind, body) {
        const client = clients.get(participant)
        client?.live.send(kind, body)
        return clients.has(participant)
      },
      observe(participant, observer) {
        const client = clients.get(participant)
        if (client !== undefined) client.live.observer = observer
      },
      listen(by) {
        listener = by
      },
    },
    marked: (live, offer) => void clients.set(live.participant, { live, offer }),
    withdrew(live) {
      const { participant } = live
      live.observer = undefined
      if (clients.delete(participant)) listener.withdrew(participant)
    },
    said: ({ participant }, status) => listener.said(participant, status),
    left(participant) {
      if (clients.delete(participant)) listener.left(participant)
    },
  }
}
