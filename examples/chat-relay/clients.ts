import assert from 'node:assert/strict'
import { createPlayer, type Realtime } from '@guildhall/client'
import { splitSender } from '@guildhall/contract'

/** The kind on which the game's script relays chat. */
const chatKind = 100

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
  const player = createPlayer(baseUrl)
  const unique = `${name}-${crypto.randomUUID()}`
  const tokens = await player.signIn.device({ id: unique, create: true, username: unique })
  assert.equal(tokens.created, true)

  const realtime = await player.connect()
  assert.equal(realtime.userId, tokens.user_id)
  const lines = listen(realtime)
  const me = JSON.parse(text(await realtime.rpc('whoami', new Uint8Array())))
  assert.equal(me.user_id, tokens.user_id)
  return {
    participant: Number(me.participant),
    say: (line: string) => realtime.send(chatKind, new TextEncoder().encode(line)),
    heard: lines,
    async leave() {
      realtime.close()
      await realtime.closed
      await player.logout()
    },
  }
}

/** Answers each call with the next line, in the order in which they arrived. */
function listen(realtime: Realtime): () => Promise<Line> {
  const arrived: Line[] = []
  const waiting: ((line: Line) => void)[] = []
  realtime.onEnvelope(({ kind, body }) => {
    if (kind !== chatKind) return
    const { sender, body: bytes } = splitSender(body)
    const line = { sender, text: text(bytes) }
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

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}

if (import.meta.main) {
  const baseUrl = process.argv[2] ?? 'http://127.0.0.1:7350'
  await chat(baseUrl)
  process.stdout.write('ana and ben have talked\n')
}
