import assert from 'node:assert/strict'
import { type ConsoleClient, createConsoleClient } from '@guildhall/client/console'
import { runExample } from '../run-example.ts'
import {
  arrive,
  criteriaOf,
  type Duelist,
  fight,
  formParty,
  hears,
  nextMatch,
  type Profile,
  ratingSpan,
  sizes,
} from './duelist.ts'
import { type Evening, expectRecords, type Match } from './records.ts'

/** As in node.toml. */
export const widenAfterMs = 1500

/**
 * An evening of forty players: they queue with ratings and regions, six of them in parties. Two
 * never come to their matches; one of the rooms they leave waiting gets somebody else. Every step
 * is asserted.
 */
export async function playDuels(baseUrl: string): Promise<string[]> {
  const client = createConsoleClient(baseUrl)
  await client.signIn({ username: 'admin', password: 'password' })
  const before = await totalsOf(client)
  const { backend } = (await (await fetch(`${baseUrl}/status`)).json()) as { backend: string }
  const hasRecords = backend !== 'in-memory'
  const evening: Evening = { client, matches: new Map(), fights: [], abandoned: [], hasRecords }
  const lines: string[] = []

  const crowd = await Promise.all(profiles().map((profile) => arrive(baseUrl, profile)))
  assert.equal(crowd.length, 40)
  const one = (name: string) => {
    const found = crowd.find((player) => player.name === name)
    assert.ok(found, name)
    return found
  }
  const named = (start: string) => crowd.filter(({ name }) => name.startsWith(start))
  lines.push('40 players arrive')

  const parties = [
    [one('ann'), one('amy')],
    [one('bea'), one('ben')],
    [one('cid'), one('cat')],
  ] as const
  await Promise.all([
    ...parties.map((party) => playInParty(evening, party)),
    ...[...named('eu-'), ...named('us-'), ...named('extra-')].map((player) =>
      play(evening, player),
    ),
    missTheirMatches(evening, one),
  ])
  assert.equal(evening.fights.filter(({ player }) => player.mode === 'pairs').length, 8)
  lines.push('three parties of two play two against two, together', 'two players never come')
  lines.push('the one whom a friend replaces goes on, the other looks for somebody else')

  for (const match of evening.matches.values()) expectFair(match)
  const apart = [one('eu-13'), one('eu-14')]
  assert.equal(new Set(apart.map((player) => roomOf(evening, player))).size, 1)
  lines.push('every match is within the rules, and two far apart have waited for theirs')

  const after = await totalsOf(client)
  const grown = (name: keyof typeof after) => after[name] - before[name]
  assert.deepEqual(
    [grown('queued_tickets'), grown('matches_formed_total'), grown('tickets_formed_total')],
    [0, 18, 38],
  )
  await Promise.all(crowd.map(({ connection }) => connection.close()))
  await expectRecords(evening)
  lines.push('the rooms end as their records say')
  return lines
}

/** Forty players. Ratings of those who should meet are near each other. */
function profiles(): Profile[] {
  const pairOf = (index: number) => 1000 + 200 * Math.floor(index / 2) + 20 * (index % 2)
  const duel = (name: string, region: Profile['region'], rating: number): Profile => {
    return { name, region, rating, mode: 'duel' }
  }
  const pairs = (name: string, region: Profile['region'], rating: number): Profile => {
    return { name, region, rating, mode: 'pairs' }
  }
  return [
    ...Array.from({ length: 12 }, (_, index) => duel(`eu-${index + 1}`, 'eu', pairOf(index))),
    duel('eu-13', 'eu', 5000),
    duel('eu-14', 'eu', 6000),
    ...Array.from({ length: 12 }, (_, index) => duel(`us-${index + 1}`, 'us', pairOf(index))),
    ...['ann', 'amy'].map((name) => pairs(name, 'eu', 1000)),
    ...['bea', 'ben'].map((name) => pairs(name, 'eu', 1050)),
    ...['cid', 'cat'].map((name) => pairs(name, 'us', 1000)),
    pairs('extra-1', 'us', 1010),
    pairs('extra-2', 'us', 1020),
    duel('ghost-1', 'asia', 1000),
    duel('sue', 'asia', 1010),
    duel('late-1', 'asia', 1005),
    duel('ghost-2', 'asia', 2000),
    duel('sam', 'asia', 2010),
    duel('late-2', 'asia', 2005),
  ]
}

/** Queues alone, plays and leaves. */
async function play(evening: Evening, player: Duelist): Promise<void> {
  const room = await enter(evening, player)
  evening.fights.push(await fight(player, room))
}

/** The leader queues for both; the friend follows the match that it is offered. */
async function playInParty(evening: Evening, [leader, friend]: readonly [Duelist, Duelist]) {
  const party_id = await formParty(leader, friend)
  const offered = nextMatch(friend)
  const search = await leader.connection.matchmaker.find({ ...criteriaOf(leader), party_id })
  const [room, match] = await Promise.all([search.room, offered])
  assert.equal(match.ticket_id, search.ticketId)
  assert.equal(match.match_id, room.id)
  const { waited_ms } = await search.status()
  note(evening, room.id, [leader, friend], waited_ms)
  const friendsRoom = await match.accept()
  const fights = await Promise.all([fight(leader, room), fight(friend, friendsRoom)])
  evening.fights.push(...fights)
  await leader.connection.party.close({ party_id })
}

/** Two players are matched and do not come; each leaves somebody alone in a room. */
async function missTheirMatches(evening: Evening, one: (name: string) => Duelist): Promise<void> {
  const [sue, sam] = [one('sue'), one('sam')]
  const misses = [one('ghost-1'), one('ghost-2')].map((ghost) => miss(evening, ghost))
  const [suesRoom, samsRoom] = await Promise.all([enter(evening, sue), enter(evening, sam)])
  assert.deepEqual((await Promise.all(misses)).toSorted(), [suesRoom.id, samsRoom.id].toSorted())

  // Sue waits, and somebody who comes later gets the seat.
  const suesFight = fight(sue, suesRoom)
  await Promise.all([hears(suesRoom, 'waiting'), hears(samsRoom, 'waiting')])
  const late = one('late-1')
  const lateSearch = await late.connection.matchmaker.find(criteriaOf(late))
  const lateRoom = await lateSearch.room
  assert.equal(lateRoom.id, suesRoom.id)
  evening.fights.push(await fight(late, lateRoom), await suesFight)

  // Sam has had enough, and looks for another match.
  await samsRoom.leave()
  evening.abandoned.push(samsRoom.id)
  await Promise.all([play(evening, sam), play(evening, one('late-2'))])
}

/** Queues by hand: `find` would accept the match. The room that the player does not enter. */
async function miss(evening: Evening, ghost: Duelist): Promise<number> {
  const match = nextMatch(ghost)
  // The types of the game name its own methods only.
  const { rpc } = ghost.connection as { rpc(method: string, payload: unknown): Promise<unknown> }
  await rpc('matchmaker.add', criteriaOf(ghost))
  const { match_id } = await match
  note(evening, match_id, [ghost], 0)
  return match_id
}

async function enter(evening: Evening, player: Duelist) {
  const search = await player.connection.matchmaker.find(criteriaOf(player))
  const room = await search.room
  const { waited_ms } = await search.status()
  note(evening, room.id, [player], waited_ms)
  assert.deepEqual([room.map, room.mode], [player.region, player.mode])
  return room
}

function note(evening: Evening, roomId: number, players: Duelist[], waitedMs: number): void {
  const match = evening.matches.get(roomId) ?? { players: [], waitedMs: 0 }
  match.players.push(...players)
  match.waitedMs = Math.max(match.waitedMs, waitedMs)
  evening.matches.set(roomId, match)
}

/** One region, one mode, as many as it takes; far apart only after a wait. */
function expectFair({ players, waitedMs }: Match): void {
  const [first] = players
  assert.ok(first)
  assert.equal(players.length, sizes[first.mode])
  for (const { region, mode } of players) {
    assert.deepEqual({ region, mode }, { region: first.region, mode: first.mode })
  }
  const ratings = players.map(({ rating }) => rating)
  const isNear = Math.max(...ratings) - Math.min(...ratings) <= ratingSpan
  assert.ok(isNear || waitedMs >= widenAfterMs, `${ratings} after ${waitedMs} ms`)
}

function roomOf({ fights }: Evening, player: Duelist): number | undefined {
  return fights.find((fought) => fought.player === player)?.roomId
}

async function totalsOf(client: ConsoleClient) {
  const { matchmaker } = await client.matches.list({ query: {} })
  assert.ok(matchmaker)
  return matchmaker
}

if (import.meta.main) {
  await runExample(async (baseUrl, print) => {
    for (const line of await playDuels(baseUrl)) print(line)
  }, 'npm start -- --config examples/duel/node.toml')
}
