import { Script } from 'node:vm'
import { expect, it } from 'vitest'
import { createFakeClock } from '../../../kernel/clock.fake.ts'
import type { Output } from '../output.ts'
import { Checkpoints } from './checkpoints.ts'
import { readDefinition } from './definition.ts'
import { StateBudget } from './state-budget.ts'
import { StateCopy } from './state-copy.ts'
import { StateRoom } from './state-room.ts'

type State = { players: { [id: string]: { x: number } } }

/** A room with a tracked state, and what the node has of it. */
function start() {
  const clock = createFakeClock()
  const saved: unknown[] = []
  const budget = new StateBudget(() => 1_000)
  const followed: StateRoom[] = []
  const output = {
    saved: (_room: number, _seq: number, text: string) => saved.push(JSON.parse(text)),
  } as unknown as Output
  const definition = readDefinition('tracked', { create: () => ({}), track: true }, undefined)
  const label = {
    map: '',
    mode: 'tracked',
    max_players: 8,
    open: true,
    tick: false,
    listed: true,
    properties: {},
  }
  const room = new StateRoom(
    definition,
    { definition: 'tracked', room_id: 7, match_id: 'm', name: null, label },
    { seq: 0, budget },
  )
  const checkpoints = new Checkpoints({
    clock,
    later: (ms, task) => void clock.after(ms, task),
    output: () => output,
    describe: String,
    follow: (each) => followed.push(each),
  })
  room.setState({ players: {} })
  const endSlice = () => {
    room.takeState()
    room.acceptState()
    checkpoints.save(room, output)
  }
  endSlice()
  const ana = { x: 1 }
  const state = room.handledState as State
  state.players.ana = ana
  endSlice()
  return { clock, saved, followed, room, ana, endSlice, checkpoints, output, budget }
}

it('[R-STA-6] what is written past the notes of a tracked state is there within a second', async () => {
  const { clock, saved, followed, ana, endSlice } = start()
  await clock.advance(1_000)
  expect(saved.at(-1)).toEqual({ players: { ana: { x: 1 } } })
  ana.x = 2
  endSlice()
  await clock.advance(1_000)
  expect(saved.at(-1)).toEqual({ players: { ana: { x: 2 } } })
  expect(followed).toHaveLength(2)
  const before = saved.length
  endSlice()
  await clock.advance(5_000)
  expect(saved).toHaveLength(before)
})

it('[R-STA-6] a hand-over takes what was written past the notes of a tracked state', async () => {
  const { clock, saved, room, ana, endSlice, checkpoints, output } = start()
  await clock.advance(1_000)
  ana.x = 3
  endSlice()
  checkpoints.saveNow(room, output)
  expect(saved.at(-1)).toEqual({ players: { ana: { x: 3 } } })
})

it('[R-STA-2] a room that ends before its next checkpoint is due counts no more', async () => {
  const { clock, saved, followed, room, budget } = start()
  room.hasEnded = true
  budget.remove(room.copy)
  const before = saved.length
  await clock.advance(5_000)
  expect([saved.length, followed]).toEqual([before, []])
  expect(new StateCopy(budget).update('x'.repeat(998))).toBe(true)
})

it('[R-STA-6] [S-STA-2] of a look past the notes that a deadline ends nothing is taken over', () => {
  const { room, ana, checkpoints, output } = start()
  const before = room.copy.text()
  ana.x = 4
  const endless = {
    enumerable: true,
    get: () => {
      for (;;);
    },
  }
  Object.defineProperty(ana, 'y', endless)
  const script = new Script('globalThis.saveRoom()')
  Object.assign(globalThis, { saveRoom: () => checkpoints.saveNow(room, output) })
  expect(() => script.runInThisContext({ timeout: 20 })).toThrow('timed out')
  // The slice before it holds.
  room.acceptState()
  expect(room.copy.text()).toBe(before)
})
