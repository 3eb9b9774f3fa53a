import { type Game, type Scores, scoresKind, tapKind } from './protocol.ts'

/** The server's side: it counts the taps of each room, and keeps the best of all times. */
const game: Guildhall<Game> = guildhall
const rooms = new Map<number, Scores>()
let best: { name: string; taps: number } | undefined

// Calls wait until it has settled.
game.on_start(async ({ state }) => {
  const handed = (state as [number, Scores][] | null) ?? []
  for (const [room_id, scores] of handed) rooms.set(room_id, scores)
  const stored = await game.storage_read(null, 'records', 'taps')
  if (stored !== null) best = { name: String(stored.value.name), taps: Number(stored.value.taps) }
})

// What the next revision goes on with.
game.on_unload(() => [...rooms])

game.on_match_join(({ room_id }) => showScores(room_id))

game.on_message(tapKind, async ({ sender, room_id, username }, body) => {
  // The type says what clients should send, not what they do send.
  const more: unknown = game.json.decode(body)?.taps
  if (more !== 1 || room_id === null || username === null) return
  const scores = scoresOf(room_id)
  const taps = (scores[username] ?? 0) + more
  scores[username] = taps
  showScores(room_id)
  // A broadcast leaves out whose message is handled.
  game.send(sender, scoresKind, game.json.encode(scores))
  if (best !== undefined && taps <= best.taps) return
  best = { name: username, taps }
  await game.storage_write(null, 'records', 'taps', best)
})

game.on_match_ended(({ room_id }) => {
  rooms.delete(room_id)
})

game.on_rpc('best', () => best)

function showScores(room_id: number): void {
  game.broadcast(scoresKind, game.json.encode(scoresOf(room_id)), false, { room_id })
}

function scoresOf(room_id: number): Scores {
  const known = rooms.get(room_id) ?? {}
  rooms.set(room_id, known)
  return known
}
