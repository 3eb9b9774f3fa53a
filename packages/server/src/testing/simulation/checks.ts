import type { Directory } from '../../kernel/cluster/directory.ts'
import type { Client } from './client.ts'
import type { House } from './house.ts'
import { friends } from './player.ts'
import type { World } from './world.ts'

/** Requests and calls have had their time after so long. */
const answerMs = 15_000

/** No two nodes serve one name. */
export function checkNames(world: World, { nodes, watcher }: House): void {
  const servedBy = new Map<string, string>()
  for (const { boot, process, gateway } of nodes) {
    if (!process.isRunning || !gateway.relay?.elsewhere.servesNames()) continue
    for (const { name } of watcher.roomsOf(boot)) {
      if (name === null) continue
      const other = servedBy.get(name)
      if (other !== undefined) world.broken(`(a) ${other} and ${boot} serve the name ${name}`)
      servedBy.set(name, boot)
    }
  }
}

/** What must hold once all faults are over for a while. */
export async function checkCalm(world: World, house: House): Promise<void> {
  checkConnections(world, house)
  checkRecords(world, house)
  await checkMembers(world, house)
  await checkParties(world, house)
  const untilMs = world.nowMs() - answerMs
  for (const client of clientsOf(house)) {
    for (const line of client.unanswered(untilMs)) world.broken(line)
  }
}

function clientsOf({ players }: House): Client[] {
  return players.flatMap(({ open }) => [...open])
}

/** Everybody is connected, once. */
function checkConnections(world: World, { players, nodes }: House): void {
  for (const { name, open, account } of players) {
    const counted = account === undefined ? Math.min(open.length, 1) : open.length
    if (counted !== 1) world.broken(`(b) ${name} has ${open.length} connections`)
    if (open.some(({ isReady }) => !isReady)) world.broken(`${name} is not let in`)
  }
  const coordinators = nodes.filter(({ gateway }) => gateway.metrics().coordinator === 1)
  if (coordinators.length !== 1) world.broken(`(e) there are ${coordinators.length} coordinators`)
  for (const { boot, gateway, log } of nodes) {
    const invalid = gateway.relay?.invalid ?? 0
    if (invalid > 0) world.broken(`${boot} has met ${invalid} messages that are none`)
    for (const { level, message, fields } of log.lines) {
      if (level === 'error') world.broken(`${boot}: ${message} ${String(fields.error ?? '')}`)
    }
  }
}

/** Every room has its record, and every record of a node that lives has its room. */
function checkRecords(world: World, { nodes, watcher }: House): void {
  const names = new Set<string>()
  for (const { boot, gateway } of nodes) {
    const open = watcher.roomsOf(boot)
    const { rooms_active: rooms } = gateway.metrics()
    if (open.length !== rooms) {
      world.broken(`(d) ${boot} has ${rooms} rooms and ${open.length} open records`)
    }
    for (const { name } of open) {
      if (name !== null && names.has(name)) world.broken(`(a) two rooms have the name ${name}`)
      if (name !== null) names.add(name)
    }
  }
}

/** A client's room has it as a member, and it hears the room; and the other way round. */
async function checkMembers(world: World, house: House): Promise<void> {
  const { nodes, watcher } = house
  const listed = new Map<number, number>()
  for (const node of nodes) {
    for (const { id } of watcher.roomsOf(node.boot)) {
      for (const { participant, connected } of await node.gateway.members(id)) {
        if (!connected) world.broken(`(c) the seat of ${participant} in ${id} was kept too long`)
        if (listed.has(participant)) world.broken(`(b) ${participant} is in two rooms`)
        listed.set(participant, id)
      }
      node.speak(id)
    }
  }
  await world.pass(hearMs)
  for (const { participant, room, last } of clientsOf(house)) {
    if (participant === undefined) continue
    const there = listed.get(participant)
    listed.delete(participant)
    if (there !== room) {
      world.broken(`(c) ${participant} has the room ${room}, and is in ${there}`)
    } else if (room !== undefined && last !== watcher.saidIn(room)) {
      world.broken(`(c) ${participant} has heard ${last} of ${watcher.saidIn(room)} in ${room}`)
    }
  }
  for (const [participant, room] of listed) {
    world.broken(`(c) ${participant} is in ${room}, and nobody is there for it`)
  }
}

const hearMs = 1000

/** Every account is in one party at most, and all agree on it. */
async function checkParties(world: World, { players }: House): Promise<void> {
  const partyOf = new Map<string, string>()
  for (const { client, account } of players) {
    if (account === undefined) continue
    client?.call('party.status', {}, (party) => {
      if (party === undefined) return
      const id = String(party.party_id)
      for (const { user_id } of party.members as { user_id: string }[]) {
        if ((partyOf.get(user_id) ?? id) !== id) world.broken(`(e) ${user_id} is in two parties`)
        partyOf.set(user_id, id)
      }
    })
  }
  await world.pass(hearMs)
}

/** What is left after everybody has gone. */
export async function whatIsLeft(
  { nodes }: House,
  { directory, idleTimers }: { directory: Directory; idleTimers: number },
): Promise<string[]> {
  const left: string[] = []
  const alive = new Set(nodes.map(({ boot }) => boot))
  for (const { boot, process, gateway } of nodes) {
    const metrics = gateway.metrics()
    for (const gauge of gauges) {
      if (metrics[gauge] !== 0) left.push(`${boot} has ${gauge} ${metrics[gauge]} left`)
    }
    if (!gateway.relay?.isEmpty) left.push(`${boot} has something under way`)
    const { queued_tickets: tickets } = gateway.matchmaker()
    if (tickets !== 0) left.push(`${boot} has ${tickets} tickets left`)
    if (process.timers > idleTimers + ticketTimers) {
      left.push(`${boot} has ${process.timers} timers, and ${idleTimers} at its start`)
    }
    const names = await directory.namesOf(boot)
    if (names.length > 0) left.push(`${boot} has the names ${JSON.stringify(names)} left`)
  }
  const { sessions, seats } = await directory.placesOf(friends.map((name) => `u-${name}`))
  for (const row of [...sessions, ...seats]) {
    if (alive.has(row.boot_id)) left.push(`a row is left: ${JSON.stringify(row)}`)
  }
  return left
}

/** The matchmaker keeps finished tickets for a minute, by one timer. */
const ticketTimers = 1

const gauges = [
  'connections_active',
  'participants_active',
  'sessions_active',
  'rooms_active',
  'dropped_seats_active',
  'topic_memberships_active',
  'relay_links_active',
  'reliable_queue_bytes',
  'names_suspended',
] as const
