import { consoleMembers } from './console-types.ts'

/**
 * The module `guildhall/test` for tests of a game, as editors see it. A test of
 * packages/server/src/script-test holds it to the module itself.
 */
export function renderTestModule(): string {
  return `${testModule}

  /** The routes of the console, for an operator; each takes the parts that it declares. */
  export type TestConsole = {
${consoleMembers('    ')}
  }
}`
}

const testModule = `/**
 * For tests that \`guildhall test-script\` runs: files named \`*.test.ts\` (or \`.js\`) in the
 * folder of the game, written with node:test.
 *
 * @example
 * import assert from 'node:assert/strict'
 * import { test } from 'node:test'
 * import { openGame } from 'guildhall/test'
 *
 * test('counts messages', async (t) => {
 *   const game = await openGame(t)
 *   const ana = await game.signIn('ana')
 *   ana.send(100, { hello: true })
 *   assert.deepEqual((await ana.message(101)).json(), { score: 1 })
 * })
 */
declare module 'guildhall/test' {
  /**
   * Starts the game on a node of its own, with a database in memory and a clock that stands still,
   * and ends it with the test.
   */
  export function openGame<G extends TestedGame = TestedGame>(
    test: { after(end: () => Promise<void>): void },
    options?: {
      /** Configuration keys that differ, e.g. \`{ 'runtime.tick_hz': '20' }\`. */
      settings?: { readonly [key: string]: string }
      /** What the clock begins with; 2025-01-01 00:00 UTC. */
      now?: Date
    },
  ): Promise<TestGame<G>>

  /** The types of a game, as its clients have them; without them everything is \`unknown\`. */
  export type TestedGame = {
    rpcs: { [method: string]: { payload: unknown; reply: unknown } }
    kinds: { [kind: number]: { up?: unknown; down?: unknown } }
    rooms?: { [definition: string]: { state: unknown; own?: unknown } }
  }

  /** What a player sees of the rooms of a game. */
  export type SeenOf<G extends TestedGame, D extends 'state' | 'own'> = G extends {
    rooms: infer R
  }
    ? string extends keyof R
      ? unknown
      : { [N in keyof R]: D extends keyof R[N] ? GuildhallReadonly<R[N][D]> : never }[keyof R]
    : unknown

  export type TestGame<G extends TestedGame = TestedGame> = {
    /** Where the node listens, e.g. \`http://127.0.0.1:40123\`. */
    readonly url: string
    /** What \`guildhall.now_ms()\` gives. */
    now(): number
    /** Signs a player in, registering it if the name is new, and connects it. */
    signIn(username: string): Promise<TestPlayer<G>>
    /** Connects a player without an account. */
    guest(): Promise<TestPlayer<G>>
    /**
     * Moves the clock, and with it ticks, timers and schedules, each at its own moment. Resolves
     * when all that this led to has arrived at the players.
     */
    advance(ms: number): Promise<void>
    /** Resolves when the script has nothing to do and all has arrived at the players. */
    settled(): Promise<void>
    /** Lines of the node's log so far; those of the script from \`trace\` on. */
    log(): readonly {
      readonly level: string
      readonly component: string
      readonly msg: string
      readonly [field: string]: unknown
    }[]
    /** The routes of the console, for an operator: \`(await game.console()).wallet.get({...})\`. */
    console(): Promise<TestConsole>
    /** Ends the game before its test does. */
    close(): Promise<void>
  }

  /** A handler that returns null sends nothing, which is read as undefined. */
  type ReplyIn<Reply, As extends 'json' | 'text' | 'bytes'> = As extends 'text'
    ? string
    : As extends 'bytes'
      ? Uint8Array
      : null extends Reply
        ? Reply | undefined
        : Reply

  export type TestPlayer<G extends TestedGame = TestedGame> = {
    /** Null for a guest. */
    readonly user_id: string | null
    readonly username: string | null
    /** What handlers read as \`ctx.sender\`. */
    readonly participant: number
    /** Bytes go as they are, text as UTF-8, anything else as JSON. */
    send<K extends GuildhallKindWith<G, 'up'>>(
      kind: K,
      body?: GuildhallOf<G, K, 'up'>,
      unreliable?: boolean,
    ): void
    /** The reply, as the client SDK reads it. Rejects with the text of a refusal. */
    rpc<M extends keyof G['rpcs'] & string, As extends 'json' | 'text' | 'bytes' = 'json'>(
      method: M,
      payload?: G['rpcs'][M]['payload'],
      options?: { as?: As },
    ): Promise<ReplyIn<G['rpcs'][M]['reply'], As>>
    /** The first message of a kind that was not taken yet, once it has come; 5 s at most. */
    message<K extends GuildhallKindWith<G, 'down'>>(
      kind: K,
    ): Promise<TestMessage<GuildhallOf<G, K, 'down'>>>
    /** The first notification that was not taken yet, once it has come. */
    notification(): Promise<TestNotification>
    /** The first chat event that was not taken yet, once it has come. */
    chat(): Promise<TestChatEvent>
    /** Every message so far, taken or not. */
    readonly received: readonly TestMessage[]
    /** What the player sees of a room with state, as it was last sent: look once it is settled. */
    readonly state: SeenOf<G, 'state'> | undefined
    /** What the player alone sees of it. */
    readonly own: SeenOf<G, 'own'> | undefined
    readonly rooms: {
      create(name: string | null, options?: { [name: string]: unknown }): Promise<TestRoom>
      join(id: number, options?: { [name: string]: unknown }): Promise<TestRoom>
      joinOrCreate(name: string, options?: { [name: string]: unknown }): Promise<TestRoom>
      leave(): Promise<void>
    }
    /** The connection of the client SDK. */
    readonly connection: TestConnection
    /**
     * Loses the connection without a word, as a network does. The node keeps the seat for
     * \`rooms.reconnect_grace_ms\`; the client comes back by itself as the clock goes on.
     */
    drop(): Promise<void>
    /** Ends the connection. */
    leave(): Promise<void>
  }

  export type TestMessage<Body = unknown> = {
    readonly kind: number
    readonly bytes: Uint8Array
    text(): string
    json(): Body
  }

  /** What kind 27 says of a notification. */
  export type TestNotification = {
    id: number
    code: number
    subject: string
    content: GuildhallJsonObject
    created_at_unix_ms: number
    read_at_unix_ms: number | null
  }

  /** What kind 28 says of a channel. */
  export type TestChatEvent = {
    type: GuildhallChatEvent['type']
    channel_id: string
    event_id: number | null
    message: GuildhallJsonObject | null
    presence: { presence_id: string; user_id: string } | null
    expires_at: number | null
    watermark_event_id: number | null
  }

  /** Of the connection of the client SDK what tests look at most. */
  export type TestConnection = {
    readonly state: 'connecting' | 'open' | 'reconnecting' | 'closed'
    readonly matchmaker: {
      /** Resolves when the ticket is queued. */
      find(criteria?: {
        query?: string
        wide_query?: string
        properties?: { [name: string]: string | number | bigint }
        min_count?: number
        max_count?: number
        party_id?: string
        ttl_ms?: number
      }): Promise<{
        readonly ticketId: string
        readonly room: Promise<TestRoom>
        cancel(): Promise<boolean>
      }>
    }
    readonly party: {
      create(options?: { open?: boolean }): Promise<{ party_id: string }>
      join(party: { party_id: string }): Promise<object>
      leave(party: { party_id: string }): Promise<object>
    }
  }

  export type TestRoom = {
    readonly id: number
    readonly map: string
    readonly mode: string
    leave(): Promise<void>
  }`
