import { type Connection, createPlayer, GuildhallError, type Room } from '@guildhall/client'
import { type Arena, flashKind, type Steer, steerKind } from '../game/protocol.ts'
import { colourOf } from './colours.ts'
import { listenToKeys } from './keyboard.ts'
import { createMotion } from './motion.ts'
import { Painter } from './painter.ts'
import { offerRecording } from './recording.ts'
import { tabStore } from './tab-store.ts'

const nodeUrl = new URLSearchParams(location.search).get('node') ?? 'http://127.0.0.1:7350'
const player = createPlayer<Arena>(nodeUrl, { store: tabStore() })
const painter = new Painter(element('view', HTMLCanvasElement))
let connection: Connection<Arena> | undefined
let motion = createMotion()
let steer: Steer = { x: 0, y: 0, dash: false }
let changedAtMs = 0
/** A direction travels by datagrams, which may get lost: it is said again while it is new. */
const repeatMs = 50
const repeatedForMs = 300

listenToKeys((wanted) => {
  steer = wanted
  changedAtMs = performance.now()
  // A dash happens once, so it must arrive.
  connection?.rooms.current?.send(steerKind, steer, { unreliable: !steer.dash })
})
setInterval(repeat, repeatMs)
element('form', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault()
  void play(element('name', HTMLInputElement).value, element('wanted', HTMLInputElement).value)
})
element('leave', HTMLButtonElement).addEventListener('click', () => {
  void connection?.rooms.leave()
})
requestAnimationFrame(draw)
void comeBack()

/** After a reload: the session is in the tab, and the node has kept the seat. */
async function comeBack(): Promise<void> {
  if ((await player.restore()) === null) return
  try {
    const room = (await connect()).rooms.current
    if (room === null) await showRooms()
    else enter(room)
  } catch (error) {
    complain(error)
  }
}

async function play(name: string, roomName: string): Promise<void> {
  try {
    if (player.session() === null) await signUp(name)
    enter(await (await connect()).rooms.joinOrCreate(roomName))
  } catch (error) {
    complain(error)
  }
}

/** Usernames are unique, so players may have the same name in front of a few letters. */
async function signUp(name: string): Promise<void> {
  const id = crypto.randomUUID()
  await player.signIn.device({ id, create: true, username: `${name}#${id.slice(0, 6)}` })
}

async function connect(): Promise<Connection<Arena>> {
  if (connection !== undefined && connection.state !== 'closed') return connection
  const next = await player.connect()
  next.on('state', (event) => {
    say(event.state === 'reconnecting' ? 'Connection lost. Coming back …' : '')
    if (event.state === 'open') showTransport(next)
    if (event.state === 'closed') showDoor(`The connection was closed: ${event.reason}`)
  })
  connection = next
  offerRecording(next, {
    box: element('recording'),
    words: element('recording-words'),
    allow: element('recording-allow', HTMLButtonElement),
    stop: element('recording-stop', HTMLButtonElement),
  })
  showTransport(next)
  return next
}

function showTransport({ transport }: Connection<Arena>): void {
  const name = transport === 'webtransport' ? 'WebTransport, with datagrams' : 'WebSocket'
  element('transport').textContent = `over ${name}`
}

function repeat(): void {
  if (performance.now() - changedAtMs > repeatedForMs) return
  connection?.rooms.current?.send(steerKind, { ...steer, dash: false }, { unreliable: true })
}

function enter(room: Room<Arena>): void {
  motion = createMotion()
  element('door').hidden = true
  element('hud').hidden = false
  element('room-name').textContent = `${room.map}, room ${room.id}`
  room.on('state', (view) => {
    motion.take(view)
    say(view.winner === null ? '' : `${nameOf(view.winner)} wins the round`)
  })
  room.on(flashKind, (message) => painter.show(message.json()))
  room.on('closed', () => showDoor(''))
  room.send(steerKind, steer)
}

function draw(): void {
  const view = motion.view()
  painter.draw(view, nameOf, connection?.participant ?? 0)
  if (view !== null) showScores(view.players)
  requestAnimationFrame(draw)
}

function showScores(players: readonly { id: number; score: number; away: boolean }[]): void {
  const sorted = players.toSorted((one, other) => other.score - one.score || one.id - other.id)
  const rows = sorted.map(({ id, score, away }) => {
    const row = document.createElement('li')
    row.classList.toggle('me', id === connection?.participant)
    row.classList.toggle('away', away)
    row.style.setProperty('--colour', colourOf(id))
    const [dot, name, points] = ['i', 'span', 'b'].map((tag) => document.createElement(tag))
    if (dot && name && points) row.append(dot, name, points)
    if (name) name.textContent = nameOf(id)
    if (points) points.textContent = String(score)
    return row
  })
  element('scores').replaceChildren(...rows)
}

async function showRooms(): Promise<void> {
  const { rooms } = (await connection?.rooms.list()) ?? { rooms: [] }
  const buttons = rooms.map(({ id, name, players, max_players }) => {
    const row = document.createElement('li')
    const button = document.createElement('button')
    button.type = 'button'
    button.textContent = `${name ?? id} · ${players} of ${max_players}`
    button.addEventListener('click', () => {
      connection?.rooms.join(id).then(enter, complain)
    })
    row.append(button)
    return row
  })
  element('rooms').replaceChildren(...buttons)
}

function nameOf(id: number): string {
  const name = connection?.rooms.current?.members.get(id)?.username
  return name?.replace(/#.*/, '') ?? `player ${id}`
}

function showDoor(problem: string): void {
  motion = createMotion()
  element('door').hidden = false
  element('hud').hidden = true
  element('problem').textContent = problem
  say('')
  if (connection?.state === 'open') showRooms().catch(complain)
}

function say(text: string): void {
  element('banner').textContent = text
  element('banner').hidden = text === ''
}

function complain(error: unknown): void {
  if (!(error instanceof GuildhallError)) throw error
  const isAway = error.code === 'network_error'
  element('problem').textContent = isAway ? `There is no node at ${nodeUrl}.` : error.message
}

function element<E extends HTMLElement>(id: string, type?: new () => E): E {
  const found = document.getElementById(id)
  if (found === null || (type !== undefined && !(found instanceof type))) throw new Error(id)
  return found as E
}
