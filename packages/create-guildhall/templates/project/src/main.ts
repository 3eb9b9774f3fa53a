import { type Connection, createPlayer, GuildhallError } from '@guildhall/client'
import { type Game, type Scores, scoresKind, tapKind } from './protocol.ts'

const nodeUrl: string = import.meta.env.VITE_NODE_URL ?? 'http://127.0.0.1:7350'
const player = createPlayer<Game>(nodeUrl)

play().catch((error: unknown) => {
  show(error instanceof GuildhallError ? `${error.code}: ${error.message}` : String(error))
})

async function play(): Promise<void> {
  if ((await player.restore()) === null) {
    const id = crypto.randomUUID()
    await player.signIn.device({ id, create: true, username: `player-${id.slice(0, 8)}` })
  }
  const connection = await player.connect()
  connection.on('state', ({ state }) => show(state === 'open' ? '' : state))
  const room = await connection.rooms.joinOrCreate('lobby')
  room.on(scoresKind, (message) => list(message.json()))
  const button = element('tap', HTMLButtonElement)
  button.addEventListener('click', () => room.send(tapKind, { taps: 1 }))
  button.disabled = false
  await greet(connection)
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

function show(text: string): void {
  element('status', HTMLElement).textContent = text
}

function element<T extends HTMLElement>(id: string, type: new () => T): T {
  const found = document.getElementById(id)
  if (!(found instanceof type)) throw new Error(`there is no element ${id}`)
  return found
}
