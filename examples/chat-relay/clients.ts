import assert from 'node:assert/strict'
import { type Connection, createPlayer } from '@guildhall/client'
import { splitSender } from '@guildhall/contract'
import { runExample } from '../run-example.ts'

/** The kind on which the game's script relays chat. */
const chatKind = 100

/** What clients and script say to each other. */
type ChatGame = {
  rpcs: {
    whoami: {
      payload: undefined
      reply: { participant: number; user_id: string | null; username: string | null }
    }
  }
  kinds: { [chatKind]: { up: string; down: Uint8Array } }
}

/** A line of chat as a client shows it. */
type Line = { sender: number; text: string }

/**
 * Two players sign up over HTTP, connect, and talk through the game's script. Every step asserts
 * what arrived.
 */
export async function chat(baseUrl: string): Promise<void> {
  const ana = await join(baseUrl, 'ana')
  const ben = await join(baseUrl, 'ben')

  ana.say('hi ben')
  assert.deepEqual(await ben.heard(), { sender: ana.participant, text: 'hi ben' })
  ben.say('hi ana, ¿qué tal? 👋')
  assert.deepEqual(await ana.heard(), { sender: ben.participant, text: 'hi ana, ¿qué tal? 👋' })

  ana.say('one')
  ana.say('two')
  assert.deepEqual(await ben.heard(), { sender: ana.participant, text: 'one' })
  assert.deepEqual(await ben.heard(), { sender: ana.participant, text: 'two' })

  await ana.leave()
  await ben.leave()
}

/** Signs a new player up by device id and joins the game. */
async function join(baseUrl: string, name: string) {
  const player = createPlayer<ChatGame>(baseUrl)
  const unique = `${name}-${crypto.randomUUID()}`
  const session = await player.signIn.device({ id: unique, create: true, username: unique })

  const connection = await player.connect()
  assert.equal(connection.userId, session.user_id)
  const lines = listen(connection)
  const me = await connection.rpc('whoami')
  assert.deepEqual(me, {
    participant: connection.participant,
    user_id: session.user_id,
    username: unique,
  })
  return {
    participant: connection.participant,
    say: (line: string) => connection.send(chatKind, line),
    heard: lines,
    async leave() {
      await connection.close()
      await player.logout()
    },
  }
}

/** Answers each call with the next line, in the order in which they arrived. */
function listen(connection: Connection<ChatGame>): () => Promise<Line> {
  const arrived: Line[] = []
  const waiting: ((line: Line) => void)[] = []
  connection.on('message', ({ kind, bytes }) => {
    if (kind !== chatKind) return
    const { sender, body } = splitSender(bytes)
    const line = { sender, text: new TextDecoder().decode(body) }
    const next = waiting.shift()
    if (next === undefined) arrived.push(line)
    else next(line)
  })
  return () => {
    const line = arrived.shift()
    return line === undefined
      ? new Promise((resolve) => waiting.push(resolve))
      : Promise.resolve(line)
  }
}

if (import.meta.main) {
  await runExample(async (baseUrl, print) => {
    await chat(baseUrl)
    print('ana and ben have talked')
  }, 'npm start -- --set runtime.scripts_dir=examples/chat-relay/game')
}
