import { createServer, type Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import {
  crowd,
  type Mover,
  move,
  movesOfCrowd,
  oneOfCrowd,
  place,
  stamp,
} from '../../game-state/motion.ts'

/**
 * The rooms of `game-state` as a Colyseus server has them: float32 fields, and a patch after each
 * tick. With `own` the hit points are each member's own, by a StateView; with `tracked` a few of a
 * crowd move; with `stamped` the state says when its tick was. The packages are those of the folder
 * that is the first argument. A server of its own reserves the seats of one room after the other.
 */
const [folder = '.', kind = 'shared'] = process.argv.slice(2)
const hz = 20
const roomSize = 8
const load = createRequire(join(folder, 'package.json'))
const core = load('@colyseus/core') as Core
const { WebSocketTransport } = load('@colyseus/ws-transport') as Transports
const { StateView, MapSchema, schema, t } = load('@colyseus/schema') as Schemas

type Seat = { roomId: string; processId: string; sessionId: string }
type Client = { sessionId: string; view?: { add(item: object): void } }
type RoomBase = {
  state: object
  autoDispose: boolean
  maxClients: number
  patchRate: number | null
  setSimulationInterval(tick: () => void, ms: number): void
  broadcastPatch(): boolean
}
type Core = {
  Server: new (
    options: object,
  ) => {
    define(name: string, room: object): void
    listen(port: number, host: string): Promise<void>
  }
  Room: new () => RoomBase
  matchMaker: {
    create(name: string, options: object): Promise<Seat>
    joinById(roomId: string, options: object): Promise<Seat>
  }
}
type Transports = { WebSocketTransport: new (options: object) => object }
type Field = { view(): Field }
type Fields = { [name: string]: unknown }
type WorldFields = { players: Map<string, Mover>; at: string }
type Schemas = {
  StateView: new () => { add(item: object): void }
  MapSchema: new () => Map<string, Mover>
  schema(fields: Fields, name: string): new () => Mover & WorldFields
  t: { float32(): Field; string(): Field; map(of: object): Field }
}

const hp = kind === 'own' ? t.float32().view() : t.float32()
const MoverState = schema({ x: t.float32(), y: t.float32(), angle: t.float32(), hp }, 'Mover')
const WorldState = schema({ players: t.map(MoverState), at: t.string() }, 'World')

class World extends core.Room {
  readonly #world = new WorldState()

  onCreate(): void {
    const players = new MapSchema()
    this.#world.players = players
    this.state = this.#world
    this.maxClients = roomSize
    this.patchRate = null
    if (kind === 'tracked') for (let n = 0; n < crowd; n += 1) players.set(String(n), moverOf(n))
    this.setSimulationInterval(() => {
      if (kind === 'stamped') this.#world.at = stamp()
      for (const player of this.#moving()) move(player, 1 / hz)
      this.broadcastPatch()
    }, 1000 / hz)
  }

  onJoin(client: Client): void {
    if (kind === 'tracked') return
    const { players } = this.#world
    const player = moverOf(players.size)
    players.set(client.sessionId, player)
    if (kind !== 'own') return
    client.view = new StateView()
    client.view.add(player)
  }

  #moving(): Iterable<Mover> {
    const { players } = this.#world
    if (kind !== 'tracked') return players.values()
    return Array.from({ length: movesOfCrowd }, () => players.get(oneOfCrowd()) ?? moverOf(0))
  }
}

function moverOf(index: number): Mover {
  return Object.assign(new MoverState(), place(index))
}

const seats = createServer((_request, response) => {
  seatsOfRoom().then(
    (all) => response.end(JSON.stringify(all)),
    (error) => response.writeHead(500).end(String(error)),
  )
})
await new Promise<void>((resolve) => seats.listen(0, '127.0.0.1', resolve))

async function seatsOfRoom(): Promise<Seat[]> {
  const all = [await core.matchMaker.create('world', {})]
  const [{ roomId } = { roomId: '' }] = all
  while (all.length < roomSize) all.push(await core.matchMaker.joinById(roomId, {}))
  return all
}

const game = createServer()
const transport = new WebSocketTransport({ server: game })
const server = new core.Server({ transport, greet: false })
server.define('world', World)
await server.listen(0, '127.0.0.1')
process.stdout.write(`ready http=http://127.0.0.1:${portOf(game)} seats=${portOf(seats)}\n`)

function portOf(listener: Server): number {
  return (listener.address() as AddressInfo).port
}
