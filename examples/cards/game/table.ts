import type { Card, TableView } from './protocol.ts'

/** The rules of the card game, without a server. A table is JSON, as a room keeps it. */

export type Table = {
  seats: number
  turn_ms: number
  /** In the order in which they play. */
  players: Player[]
  deck: Card[]
  /** The last one lies on top. */
  pile: Card[]
  turn: number | null
  turn_ends_unix_ms: number
  moves: number
  winner: number | null
}

export type Player = { id: number; name: string; hand: Card[]; away: boolean }

export const handSize = 4
const suits = ['♠', '♥', '♦', '♣'] as const
const ranks = ['7', '8', '9', '10', 'J', 'Q', 'K', 'A'] as const
export const wholeDeck: readonly Card[] = suits.flatMap((suit) => ranks.map((rank) => suit + rank))

export function newTable(seats: number, turn_ms: number): Table {
  const deck = shuffled(wholeDeck)
  const begin = { turn: null, turn_ends_unix_ms: 0, moves: 0, winner: null }
  return { seats, turn_ms, players: [], deck, pile: [], ...begin }
}

export function sit(table: Table, id: number, name: string): void {
  table.players.push({ id, name, hand: table.deck.splice(-handSize), away: false })
}

/** The first card is turned up when all are there. Returns whether the game begins. */
export function begin(table: Table, nowMs: number): boolean {
  if (table.pile.length > 0 || table.players.length < table.seats) return false
  table.pile = table.deck.splice(-1)
  giveTurn(table, 0, nowMs)
  return true
}

/** Why the player may not do it now; undefined when it may. */
export function problemOf(table: Table, id: number, card?: Card): string | undefined {
  if (table.winner !== null) return 'the game is over'
  if (table.turn !== id) return 'it is not your turn'
  if (card === undefined) return undefined
  if (!playerOf(table, id)?.hand.includes(card)) return 'that card is not in your hand'
  return fits(card, table.pile.at(-1) ?? '') ? undefined : 'that card does not fit'
}

export function fits(card: Card, top: Card): boolean {
  return card.charAt(0) === top.charAt(0) || card.slice(1) === top.slice(1)
}

export function play(table: Table, id: number, card: Card, nowMs: number): void {
  const player = playerOf(table, id)
  if (player === undefined) return
  player.hand = player.hand.filter((held) => held !== card)
  table.pile.push(card)
  if (player.hand.length === 0) win(table, id)
  else giveTurn(table, table.players.indexOf(player) + 1, nowMs)
}

/** Takes a card, if there is one, and ends the turn. */
export function draw(table: Table, id: number, nowMs: number): void {
  const player = playerOf(table, id)
  if (player === undefined) return
  if (table.deck.length === 0) table.deck = shuffled(table.pile.splice(0, table.pile.length - 1))
  player.hand.push(...table.deck.splice(-1))
  giveTurn(table, table.players.indexOf(player) + 1, nowMs)
}

/** The cards of a player who leaves go under the deck; the last one who stays wins. */
export function leave(table: Table, id: number, nowMs: number): void {
  const at = table.players.findIndex((player) => player.id === id)
  const [gone] = at < 0 ? [] : table.players.splice(at, 1)
  if (gone === undefined) return
  table.deck.unshift(...gone.hand)
  const [last] = table.players
  if (table.winner !== null || table.pile.length === 0 || last === undefined) return
  if (table.players.length === 1) win(table, last.id)
  else if (table.turn === id) giveTurn(table, at, nowMs)
}

export function playerOf({ players }: Table, id: number): Player | undefined {
  return players.find((player) => player.id === id)
}

export function viewOf(table: Table): TableView {
  const { seats, pile, deck, players, turn, turn_ends_unix_ms, moves, winner } = table
  return {
    ...{ seats, turn, turn_ends_unix_ms, moves, winner },
    top: pile.at(-1) ?? null,
    deck: deck.length,
    players: players.map(({ hand, ...player }) => ({ ...player, cards: hand.length })),
  }
}

function giveTurn(table: Table, at: number, nowMs: number): void {
  table.moves += 1
  table.turn = table.players[at % table.players.length]?.id ?? null
  table.turn_ends_unix_ms = nowMs + table.turn_ms
}

function win(table: Table, id: number): void {
  table.moves += 1
  table.turn = null
  table.winner = id
}

function shuffled(cards: readonly Card[]): Card[] {
  const left = [...cards]
  return cards.flatMap(() => left.splice(Math.floor(Math.random() * left.length), 1))
}
