/// <reference path="../../../guildhall.d.ts" />

import { expectTypeOf, it } from 'vitest'

type Booked = { balance: bigint; seq: number }
const booking = { op: 'wallet', user_id: 'ana', currency: 'gold', delta: 1 } as const
const write = { op: 'write', owner: null, collection: 'c', key: 'k', value: {} } as const
const removal = { op: 'delete', owner: null, collection: 'c', key: 'k' } as const

/** The compiler is what looks: none of it runs. */
type Script = (guildhall: Guildhall) => unknown

it('[S-API-22] [S-API-25] types of results follow the operations', () => {
  const script: Script = async ({ transact, storage_write_many }) => {
    const notice = { op: 'notify', subject: 'news' } as const
    const { results } = await transact([booking, write, removal, notice])
    expectTypeOf(results).toEqualTypeOf<
      [Booked, { version: string }, { removed: boolean }, { id: number }]
    >()
    const [booked] = (await transact([{ op: 'wallet', user_id: 'ana', currency: 'g', delta: 1n }]))
      .results
    expectTypeOf(booked).toEqualTypeOf<Booked>()
    const [written, removed] = await storage_write_many([write, removal])
    expectTypeOf(written).toEqualTypeOf<{ version: string }>()
    expectTypeOf(removed).toEqualTypeOf<{ removed: boolean }>()
    const many: (typeof booking | typeof write)[] = []
    expectTypeOf((await transact(many)).results).toEqualTypeOf<(Booked | { version: string })[]>()
    // @ts-expect-error a booking is no write
    await storage_write_many([booking])
    // @ts-expect-error there is no such operation
    await transact([{ op: 'burn' }])
  }
  expectTypeOf(script).toBeFunction()
})

it('[S-HK-8] a match that was made cannot be refused, a room that a client makes can', () => {
  const script: Script = ({ on_matchmaker_matched, on_room_create }) => {
    on_matchmaker_matched(() => ({ map: 'arena' }))
    on_matchmaker_matched(() => 'arena')
    // @ts-expect-error a refusal would leave the default label
    on_matchmaker_matched(() => ({ refuse: 'no' }))
    // @ts-expect-error neither is false an answer
    on_matchmaker_matched(() => false)
    on_room_create(() => ({ refuse: 'no' }))
    on_room_create(() => false)
  }
  expectTypeOf(script).toBeFunction()
})

/** A game whose rooms have state. */
type Cards = {
  rpcs: { play: { payload: { card: string }; reply: undefined } }
  kinds: { 100: { up: { dx: number } }; 101: { down: { tick: number } } }
  rooms: { cards: { state: { left: number }; own: string[] }; race: { state: { x: number } } }
}
type Table = { hands: { [id: number]: string[] } }

it('[R-STA-5] [S-STA-1] rooms of a game with types are of these types', () => {
  const script = (game: Guildhall<Cards>) => {
    game.room('cards', {
      create: (): Table => ({ hands: {} }),
      join({ sender }, { state }) {
        state.hands[sender] = []
      },
      message: {
        100: (_ctx, body, room) => {
          expectTypeOf(game.json.decode(body)).toEqualTypeOf<{ dx: number }>()
          room.broadcast(101, game.json.encode({ tick: 1 }))
          // @ts-expect-error clients send this kind
          room.broadcast(100, '')
        },
      },
      rpc: { play: (_ctx, body) => void game.json.decode(body).card },
      view: ({ hands }) => ({ left: Object.keys(hands).length }),
      own: ({ hands }, { participant }) => hands[participant] ?? [],
    })
    game.room('race', { create: () => ({ x: 0 }) })
    // @ts-expect-error there is no such room
    game.room('raec', { create: () => ({ x: 0 }) })
    // @ts-expect-error without a view members see the state, which is not what they expect
    game.room('race', { create: () => ({ y: 0 }) })
    // @ts-expect-error a hand is texts
    game.room('cards', { create: () => ({}), view: () => ({ left: 0 }), own: () => [1] })
  }
  expectTypeOf(script).toBeFunction()
})
