import type { Random } from '../crash/random.ts'
import { Client } from './client.ts'
import type { Node } from './node.ts'
import type { Watcher } from './watcher.ts'
import type { World } from './world.ts'

export type PlayerDeps = {
  world: World
  watcher: Watcher
  /** Nodes that a client can connect to. */
  nodes(): readonly Node[]
  /** Rooms that players have been in lately. */
  rooms: number[]
  /** Parties that players have made lately. */
  parties: string[]
}

/** Names that players ask for: few, so that they meet. */
const names = ['arena', 'lake', 'mill']
const actMs = { min: 150, max: 900 }
/** A connection that its client has given up without a word is noticed after so long. */
const ghostMs = 5000

/** Somebody who plays: connects somewhere, acts, drops, and comes back. */
export class SimulatedPlayer {
  readonly name: string
  readonly account: string | undefined
  readonly #deps: PlayerDeps
  readonly #random: Random
  readonly #clients = new Set<Client>()
  client: Client | undefined
  isActing = true
  #hasLeft = false
  #said = 0

  constructor(name: string, isGuest: boolean, deps: PlayerDeps) {
    this.name = name
    this.account = isGuest ? undefined : name
    this.#deps = deps
    this.#random = deps.world.random(`player ${name}`)
    this.#actLater()
  }

  /** All of its connections that are open, also those that it has given up. */
  get open(): readonly Client[] {
    return [...this.#clients].filter(({ isOpen }) => isOpen)
  }

  connect(): void {
    const node = this.#random.pick(this.#deps.nodes())
    if (node === undefined) return
    const client = new Client(node, {
      ...this.#deps,
      ...{ name: this.name, account: this.account, travelMs: 0.5 + this.#random.fraction() * 3 },
      nextSaid: () => (this.#said += 1),
      over: (each) => {
        this.#clients.delete(each)
        if (this.client === each) this.client = undefined
      },
    })
    this.#clients.add(client)
    this.client = client
  }

  /** Goes for good. */
  leave(): void {
    this.#hasLeft = true
    for (const client of this.open)
      client.end(this.#random.pick(['left', 'lost'] as const) ?? 'left')
  }

  #actLater(): void {
    if (this.#hasLeft) return
    const ms = actMs.min + this.#random.fraction() * (actMs.max - actMs.min)
    this.#deps.world.after(ms, () => {
      if (this.#hasLeft) return
      if (this.isActing) this.#act()
      else if (this.client === undefined) this.connect()
      this.#actLater()
    })
  }

  #act(): void {
    const { client } = this
    if (client === undefined) this.connect()
    else if (this.#random.chance(0.03)) this.#drop(client)
    else if (!client.isReady) return
    else if (!client.isAsking && this.#random.chance(client.room === undefined ? 0.7 : 0.12)) {
      this.#move(client)
    } else if (this.#random.chance(0.75)) {
      for (let count = this.#random.below(3); count >= 0; count -= 1) client.say()
    } else this.#call(client)
  }

  #drop(client: Client): void {
    const how = this.#random.pick(['left', 'lost', 'ghost'] as const) ?? 'lost'
    if (how !== 'ghost') {
      client.end(how)
      return
    }
    this.client = undefined
    this.#deps.world.after(ghostMs, () => client.end('lost'))
    this.connect()
  }

  #move(client: Client): void {
    const { rooms } = this.#deps
    if (client.room !== undefined && !rooms.includes(client.room)) rooms.push(client.room)
    if (rooms.length > 4) rooms.shift()
    const way = this.#random.below(10)
    const room = this.#random.pick(rooms)
    if (client.room !== undefined && way < 3) client.leaveRoom()
    else if (way < 7) client.enter({ name: this.#random.pick(names) ?? 'arena' })
    else if (way < 9 && room !== undefined) client.enter({ room })
    else client.makeRoom()
  }

  #call(client: Client): void {
    const { parties } = this.#deps
    const way = this.#random.below(10)
    if (way < 4 || this.account === undefined) {
      client.call('echo', { at: this.#deps.world.nowMs() })
    } else if (way < 6) client.call('matchmaker.add', { min_count: 2, max_count: 2 })
    else if (way < 7) {
      client.call('party.create', { open: true }, (party) => {
        if (party !== undefined) parties.push(String(party.party_id))
        if (parties.length > 2) parties.shift()
      })
    } else if (way < 9) client.call('party.join', { party_id: this.#random.pick(parties) ?? '' })
    else client.call('party.leave', { party_id: this.#random.pick(parties) ?? '' })
  }
}

/** The accounts that play. */
export const friends = ['ann', 'bob', 'cid', 'dora', 'eve', 'finn']
