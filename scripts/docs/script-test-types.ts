/**
 * The module `guildhall/test` for tests of a game, as editors see it. A test of
 * packages/server/src/script-test holds it to the module itself.
 */
export const scriptTestModule = `/**
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
  export function openGame(
    test: { after(end: () => Promise<void>): void },
    options?: {
      /** Configuration keys that differ, e.g. \`{ 'runtime.tick_hz': '20' }\`. */
      settings?: { readonly [key: string]: string }
      /** What the clock begins with; 2025-01-01 00:00 UTC. */
      now?: Date
    },
  ): Promise<TestGame>

  export type TestGame = {
    /** Where the node listens, e.g. \`http://127.0.0.1:40123\`. */
    readonly url: string
    /** What \`guildhall.now_ms()\` gives. */
    now(): number
    /** Signs a player in, registering it if the name is new, and connects it. */
    signIn(username: string): Promise<TestPlayer>
    /** Connects a player without an account. */
    guest(): Promise<TestPlayer>
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
    console(): Promise<any>
    /** Ends the game before its test does. */
    close(): Promise<void>
  }

  export type TestPlayer = {
    /** Null for a guest. */
    readonly user_id: string | null
    readonly username: string | null
    /** What handlers read as \`ctx.sender\`. */
    readonly participant: number
    /** Bytes go as they are, text as UTF-8, anything else as JSON. */
    send(kind: number, body?: unknown, unreliable?: boolean): void
    /** The reply: JSON as its value, text, or bytes. Rejects with the text of a refusal. */
    rpc(method: string, payload?: unknown): Promise<any>
    /** The first message of a kind that was not taken yet, once it has come; 5 s at most. */
    message(kind: number): Promise<TestMessage>
    /** The first notification that was not taken yet, once it has come. */
    notification(): Promise<any>
    /** The first chat event that was not taken yet, once it has come. */
    chat(): Promise<any>
    /** Every message so far, taken or not. */
    readonly received: readonly TestMessage[]
    readonly rooms: {
      create(name: string | null, options?: { [name: string]: unknown }): Promise<TestRoom>
      join(id: number, options?: { [name: string]: unknown }): Promise<TestRoom>
      joinOrCreate(name: string, options?: { [name: string]: unknown }): Promise<TestRoom>
      leave(): Promise<void>
    }
    /** The connection of the client SDK, with parties, matchmaker and all events. */
    readonly connection: any
    /** Ends the connection. */
    leave(): Promise<void>
  }

  export type TestMessage = {
    readonly kind: number
    readonly bytes: Uint8Array
    text(): string
    json(): any
  }

  export type TestRoom = {
    readonly id: number
    readonly map: string
    readonly mode: string
    leave(): Promise<void>
  }
}`
