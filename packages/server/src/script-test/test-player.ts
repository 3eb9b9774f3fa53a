import {
  type Connection,
  createPlayer,
  type HostClock,
  type Message,
  type RpcOptions,
} from '@guildhall/client'
import type {
  BodyOfKind,
  ChatPush,
  DownKind,
  GameTypes,
  MethodOf,
  NotificationPush,
  UpKind,
} from '@guildhall/contract'
import type { Clock } from '../kernel/clock.ts'
import { within } from '../kernel/time/within.ts'
import { patienceMs, TestInbox } from './test-inbox.ts'
import { createTestNetwork } from './test-network.ts'

export type TestPlayer<G extends GameTypes = GameTypes> = Awaited<ReturnType<typeof enterGame<G>>>

type ReplyForm = NonNullable<RpcOptions['as']>
type ReplyIn<Reply, As extends ReplyForm> = As extends 'text'
  ? string
  : As extends 'bytes'
    ? Uint8Array
    : null extends Reply
      ? Reply | undefined
      : Reply

type Entry = {
  url: string
  /** Undefined for a guest. */
  username: string | undefined
  /** Moved by the test; the player's client waits by it. */
  clock: Clock
  realClock: Clock
}

/** Signs a player in, registering it if it is new, and connects it. */
export async function enterGame<G extends GameTypes>({ url, username, clock, realClock }: Entry) {
  const network = createTestNetwork()
  const options = { clock: clientClock(clock), WebSocket: network.WebSocket }
  const player = createPlayer<G>(url, options)
  if (username !== undefined) {
    await player.signIn.device({ id: `device-${username}`, create: true, username })
  }
  // Hours of the game pass within a moment of the network, which is not silent for that.
  const quick = { transport: 'websocket', idleMs: 0 } as const
  const connection = await player.connect(
    username === undefined ? { as: 'guest', ...quick } : quick,
  )
  // The methods of the node itself are of no game.
  const untyped: Pick<Connection, 'rpc'> = connection
  const messages = new TestInbox<Message>(realClock)
  const notifications = new TestInbox<NotificationPush>(realClock)
  const chat = new TestInbox<ChatPush>(realClock)
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
    /** What the player sees of its room, as it was last sent; undefined outside of one. */
    get state() {
      return connection.rooms.current?.state
    },
    /** What the player alone sees of it. */
    get own() {
      return connection.rooms.current?.own
    },
    send<K extends UpKind<G>>(kind: K, body?: BodyOfKind<G, K, 'up'>, unreliable = false): void {
      connection.send(kind, body as BodyOfKind<G, K, 'up'>, { unreliable })
    },
    async rpc<M extends MethodOf<G>, As extends ReplyForm = 'json'>(
      method: M,
      payload?: G['rpcs'][M]['payload'],
      options: RpcOptions<As> = {},
    ): Promise<ReplyIn<G['rpcs'][M]['reply'], As>> {
      try {
        const reply: unknown = await untyped.rpc(method, payload, options)
        // The game says what its methods answer.
        return reply as ReplyIn<G['rpcs'][M]['reply'], As>
      } catch (error) {
        // The client made it while it read the answer: from here the stack leads to the test.
        if (error instanceof Error) Error.captureStackTrace(error)
        throw error
      }
    },
    async message<K extends DownKind<G>>(kind: K): Promise<Message<BodyOfKind<G, K, 'down'>>> {
      const isWanted = (message: Message) => message.kind === kind
      const found = await messages.take(`a message of kind ${kind}`, isWanted)
      // The game says what its kinds carry.
      return found as Message<BodyOfKind<G, K, 'down'>>
    },
    notification: () => notifications.take('a notification', () => true),
    chat: () => chat.take('a chat event', () => true),
    /**
     * Loses the connection without a word, as a network does. The node keeps the seat for
     * `rooms.reconnect_grace_ms`; the client comes back by itself as the clock goes on.
     */
    drop: network.drop,
    async leave(): Promise<void> {
      await connection.close()
    },
    /** Whether it is on its way back into the game. */
    isReturning: () => connection.state === 'reconnecting' && network.hasSocket(),
    /** Resolves when all that the node has sent so far has arrived. */
    async caughtUp(): Promise<void> {
      if (connection.state !== 'open') return
      // The first look asks for states.
      connection.rooms.current?.state
      // No script handles it: the gateway answers at once, behind what it has sent before.
      const answered = untyped.rpc('rooms.settled').catch(() => undefined)
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
