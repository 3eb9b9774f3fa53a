import {
  type Connection,
  createPlayer,
  GuildhallError,
  sessionStorageStore,
} from '@guildhall/client'
import { type Game, type Scores, scoresKind, tapKind } from './protocol.ts'

const nodeUrl: string = import.meta.env.VITE_NODE_URL ?? 'http://127.0.0.1:7350'
// Each tab is a player, also after it was loaded again.
const player = createPlayer<Game>(nodeUrl, { store: sessionStorageStore() })

play().catch(complain)

async function play(): Promise<void> {
  if ((await player.restore()) === null) {
    const id = crypto.randomUUID()
    await player.signIn.device({ id, create: true, username: `player-${id.slice(0, 8)}` })
  }
  const connection = await player.connect()
  connection.on('state', (event) => {
    show(event.state === 'open' ? '' : event.state)
    // Without the seat the room is gone, such as after a restart of the node.
    if (event.state === 'open' && !event.resumed) enter(connection).catch(complain)
  })
  await enter(connection)
  const button = element('tap', HTMLButtonElement)
  button.addEventListener('click', () => connection.rooms.current?.send(tapKind, { taps: 1 }))
  button.disabled = false
  await greet(connection)
}

async function enter(connection: Connection<Game>): Promise<void> {
  const room = await connection.rooms.joinOrCreate('lobby')
  room.on(scoresKind, (message) => list(message.json()))
}

async function greet(connection: Connection<Game>): Promise<void> {
  const best = await connection.rpc('best')
  show(
    best === undefined ? 'Nobody has tapped yet.' : `${best.name} has the most taps: ${best.taps}.`,
  )
}

function list(scores: Scores): void {
  const rows = Object.entries(scores).map(([name, taps]) => {
    const row = document.createElement('li')
    row.textContent = `${name}: ${taps}`
    return row
  })
  element('scores', HTMLOListElement).replaceChildren(...rows)
}

function complain(error: unknown): void {
  show(error instanceof GuildhallError ? `${error.code}: ${error.message}` : String(error))
}

function show(text: string): void {
  element('status', HTMLElement).textContent = text
}

function element<T extends HTMLElement>(id: string, type: new () => T): T {
  const found = document.getElementById(id)
  if (!(found instanceof type)) throw new Error(`there is no element ${id}`)
  return found
}
