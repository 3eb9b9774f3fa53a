import type { Membership, MembershipDeps } from '../../kernel/cluster/membership.ts'
import { type Fault, jumpMs } from './faults.ts'
import { calm, type Network } from './network.ts'
import { type Node, startNode } from './node.ts'
import type { SimulatedPlayer } from './player.ts'
import type { SlowDirectory } from './slow-directory.ts'
import type { Watcher } from './watcher.ts'
import type { World } from './world.ts'

type HouseParts = {
  world: World
  network: Network
  directory: SlowDirectory
  watcher: Watcher
  graceMs: number
  count: number
  makeMembership: ((deps: MembershipDeps) => Membership) | undefined
}

/** All nodes, and what is done to them. */
export class House {
  readonly watcher: Watcher
  readonly #parts: HouseParts
  readonly #places: (Node | undefined)[]
  #boots = 0
  players: readonly SimulatedPlayer[] = []

  constructor(parts: HouseParts) {
    this.#parts = parts
    this.watcher = parts.watcher
    this.#places = Array.from({ length: parts.count })
  }

  /** Nodes that are alive, stopped ones included. */
  get nodes(): readonly Node[] {
    return this.#places.filter((node) => node !== undefined)
  }

  /** Nodes that clients find open. */
  get open(): readonly Node[] {
    return this.nodes.filter(({ membership }) => membership.state === 'live')
  }

  startAll(): void {
    for (const place of this.#places.keys()) void this.#start(place)
  }

  apply(fault: Fault): void {
    const { world } = this.#parts
    world.say(`${fault.kind}: node ${fault.node}, ${fault.forMs} ms`)
    const undo = this.#begin(fault)
    world.after(fault.forMs, undo)
  }

  heal(): void {
    const { network, directory } = this.#parts
    network.heal()
    directory.heal()
    for (const { process } of this.nodes) process.resume()
  }

  async shutDown(): Promise<void> {
    const over = Promise.all(this.nodes.map((node) => node.shutDown()))
    await this.#parts.world.pass(stopMs)
    await over
    for (const { process, boot } of this.nodes) {
      if (process.timers > 0) this.#parts.world.broken(`${boot} has timers after its end`)
      process.kill()
    }
  }

  #begin(fault: Fault): () => void {
    const { network, directory } = this.#parts
    const { kind, node: place, amount } = fault
    const node = this.#places[place]
    const other = this.#places[fault.other]
    const nothing = () => {}
    switch (kind) {
      case 'bus loses':
        network.setWeather({ ...calm, loss: amount })
        return () => network.setWeather(calm)
      case 'bus doubles':
        network.setWeather({ ...calm, doubles: amount })
        return () => network.setWeather(calm)
      case 'bus reorders':
        network.setWeather({ ...calm, jitterMs: 20 * amount })
        return () => network.setWeather(calm)
      case 'bus is slow':
        network.setWeather({ ...calm, slowMs: 2500 * amount })
        return () => network.setWeather(calm)
      case 'database stalls':
      case 'database fails':
      case 'database is mute':
        directory.setMood(moods[kind])
        return () => directory.setMood('well')
    }
    if (node === undefined) return nothing
    const { boot, process } = node
    switch (kind) {
      case 'node killed':
        this.#kill(place, node)
        return () => void this.#start(place)
      case 'node shut down':
        if (!process.isRunning || node.membership.state !== 'live') return nothing
        void node.shutDown().then(() => this.#kill(place, node))
        return () => void this.#restart(place, node)
      case 'node stopped':
        process.stop()
        return () => process.resume()
      case 'bus cut off':
        network.cut(boot, true)
        return () => network.cut(boot, false)
      case 'nodes apart':
        if (other === undefined) return nothing
        network.part(boot, other.boot, true)
        return () => network.part(boot, other.boot, false)
      case 'link overflows':
        network.choke(boot, 2 ** 30)
        return () => network.choke(boot, 0)
      case 'database stalls for one':
        directory.setMood('stalls', boot)
        return () => directory.setMood('well', boot)
      case 'clock jumps':
        process.moveWall(jumpMs(fault))
        return nothing
    }
  }

  #kill(place: number, node: Node): void {
    if (node.process.isDead) return
    this.#parts.world.say(`${node.boot} is dead`)
    node.process.kill()
    if (this.#places[place] === node) this.#places[place] = undefined
    for (const player of this.players) {
      for (const client of player.open) if (client.node === node) client.die()
    }
  }

  /** A node that has not ended in time is killed, as its manager does. */
  #restart(place: number, node: Node): void {
    this.#parts.world.after(stopMs, () => {
      this.#kill(place, node)
      void this.#start(place)
    })
  }

  async #start(place: number): Promise<void> {
    if (this.#places[place] !== undefined) return
    this.#boots += 1
    const boot = `bt1-${this.#boots}`
    try {
      const node = await startNode(`node-${place}`, boot, this.#parts)
      if (this.#places[place] !== undefined) node.process.kill()
      else this.#places[place] = node
      this.#parts.world.say(`${boot} has the slot ${node.membership.slot}`)
    } catch {
      this.#parts.world.after(startAgainMs, () => void this.#start(place))
    }
  }
}

const moods = {
  'database stalls': 'stalls',
  'database fails': 'fails',
  'database is mute': 'mute',
} as const
const stopMs = 15_000
const startAgainMs = 1000
