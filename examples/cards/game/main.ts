/// <reference path="../../../packages/server/guildhall.d.ts" />

import type { Cards } from './protocol.ts'
import {
  begin,
  draw,
  leave,
  newTable,
  play,
  playerOf,
  problemOf,
  sit,
  type Table,
  viewOf,
} from './table.ts'

/**
 * The server's side of the card game: a room whose state is the table. Members see `view` of it,
 * and the cards of their own hand; the deck and the other hands never leave this process.
 */
const game: Guildhall<Cards> = guildhall

type Room = GuildhallStateRoom<Table, Cards>

game.room('cards', {
  create: (_ctx, options): { state: Table; label: GuildhallLabel } => {
    const seats = numberIn(options.seats, 2, 6, 2)
    const state = newTable(seats, numberIn(options.turn_ms, 100, 60_000, 15_000))
    return { state, label: { map: 'table', mode: 'cards', max_players: seats, listed: true } }
  },

  // After a restart the table is as it was, and so is the end of the turn.
  restore: (state: Table, room) => {
    keepTime(room, state)
    return state
  },

  admit: (_ctx, { state }) => state.pile.length === 0 || 'the game has begun',

  join({ sender, username }, room) {
    sit(room.state, sender, username ?? `guest ${sender}`)
    if (begin(room.state, game.now_ms())) keepTime(room, room.state)
  },

  leave: ({ sender }, { state }) => leave(state, sender, game.now_ms()),
  drop: ({ sender }, room) => setAway(room, sender, true),
  return: ({ sender }, room) => setAway(room, sender, false),

  rpc: {
    play({ sender }, body, { state }) {
      // The type says what clients should send, not what they do send.
      const { card = '' } = game.json.decode(body) ?? {}
      const problem = problemOf(state, sender, String(card))
      if (problem !== undefined) game.fail(problem)
      play(state, sender, card, game.now_ms())
    },
    draw({ sender }, _body, { state }) {
      const problem = problemOf(state, sender)
      if (problem !== undefined) game.fail(problem)
      draw(state, sender, game.now_ms())
    },
  },

  view: viewOf,
  own: (state, { participant }) => playerOf(state, participant)?.hand ?? [],

  ended({ state }) {
    const { winner, moves } = state
    return { moves, winner: winner === null ? null : (playerOf(state, winner)?.name ?? null) }
  },
})

/** One timer for the whole game: at its end it looks whether the turn is still the same. */
function keepTime(room: Room, { turn_ends_unix_ms }: Table): void {
  const waitMs = Math.max(1, turn_ends_unix_ms - game.now_ms())
  room.after(waitMs, () => {
    const { state } = room
    if (state.turn === null) return
    if (state.turn_ends_unix_ms <= game.now_ms()) draw(state, state.turn, game.now_ms())
    keepTime(room, state)
  })
}

function setAway({ state }: Room, id: number, away: boolean): void {
  const player = playerOf(state, id)
  if (player !== undefined) player.away = away
}

function numberIn(given: unknown, min: number, max: number, usual: number): number {
  const isIn = typeof given === 'number' && Number.isInteger(given) && given >= min && given <= max
  return isIn ? given : usual
}
