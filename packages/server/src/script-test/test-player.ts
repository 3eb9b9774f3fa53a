import { createPlayer, type HostClock, type Message, type RpcOptions } from '@guildhall/client'
import type { Clock } from '../kernel/clock.ts'
import { within } from '../kernel/time/within.ts'
import { patienceMs, TestInbox } from './test-inbox.ts'

export type TestPlayer = Awaited<ReturnType<typeof enterGame>>

type Entry = {
  url: string
  /** Undefined for a guest. */
  username: string | undefined
  /** Moved by the test; the player's client waits by it. */
  clock: Clock
  realClock: Clock
}

/** Signs a player in, registering it if it is new, and connects it. */
export async function enterGame({ url, username, clock, realClock }: Entry) {
  const player = createPlayer(url, { clock: clientClock(clock) })
  if (username !== undefined) {
    await player.signIn.device({ id: `device-${username}`, create: true, username })
  }
  // Hours of the game pass within a moment of the network, which is not silent for that.
  const idleMs = 0
  const connection = await player.connect(
    username === undefined ? { as: 'guest', idleMs } : { idleMs },
  )
  const messages = new TestInbox<Message>(realClock)
  const notifications = new TestInbox<object>(realClock)
  const chat = new TestInbox<object>(realClock)
  connection.on('message', (message) => messages.push(message))
  connection.on('notification', (pushed) => notifications.push(pushed))
  connection.on('chat', (pushed) => chat.push(pushed))

  return {
    user_id: connection.userId,
    username: username ?? null,
    participant: connection.participant,
    connection,
    rooms: connection.rooms,
    received: messages.all,
    send(kind: number, body?: unknown, unreliable = false): void {
      connection.send(kind, body, { unreliable })
    },
    async rpc(method: string, payload?: unknown, options: RpcOptions = {}): Promise<unknown> {
      try {
        return await connection.rpc(method, payload, options)
      } catch (error) {
        // The client made it while it read the answer: from here the stack leads to the test.
        if (error instanceof Error) Error.captureStackTrace(error)
        throw error
      }
    },
    message: (kind: number) =>
      messages.take(`a message of kind ${kind}`, (message) => message.kind === kind),
    notification: () => notifications.take('a notification', () => true),
    chat: () => chat.take('a chat event', () => true),
    async leave(): Promise<void> {
      await connection.close()
    },
    /** Resolves when all that the node has sent so far has arrived. */
    async caughtUp(): Promise<void> {
      if (connection.state !== 'open') return
      // No script handles it: the gateway answers at once, behind what it has sent before.
      const answered = connection.rpc('rooms.settled').catch(() => undefined)
      await within(realClock, patienceMs, answered)
    },
  }
}

function clientClock(clock: Clock): HostClock {
  return {
    nowMs: () => clock.nowUnixMs(),
    monotonicMs: () => clock.monotonicMs(),
    startTimer(ms, run) {
      const timer = clock.after(ms, run)
      return () => timer.cancel()
    },
  }
}
