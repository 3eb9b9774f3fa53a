import type { LivePlayers } from '../kernel/play/delivery.ts'

/** What was sent: to accounts (null is all) or to participants, with the JSON of its body. */
export type Sent = { to: readonly (string | number)[] | null; kind: number; json: unknown }

export type FakePlayers = LivePlayers & {
  readonly sent: Sent[]
  /** The accounts of participants. */
  readonly accounts: Map<number, string>
  /** The sessions that are connected. */
  readonly sessions: Set<string>
}

/** Players who receive everything at once. */
export function createFakePlayers(): FakePlayers {
  const sent: Sent[] = []
  const accounts = new Map<number, string>()
  const sessions = new Set<string>()
  const take = (to: Sent['to'], kind: number, body: Uint8Array) =>
    void sent.push({ to, kind, json: JSON.parse(Buffer.from(body).toString()) })
  return {
    sent,
    accounts,
    sessions,
    push: take,
    send: ({ kind, body, participants }) => take(participants, kind, body),
    accountOf: (participant) => accounts.get(participant) ?? null,
    isConnected: (sessionId) => sessions.has(sessionId),
  }
}
