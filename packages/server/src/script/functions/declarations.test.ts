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
