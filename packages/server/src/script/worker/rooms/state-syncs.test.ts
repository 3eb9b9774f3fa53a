import { isStateFull } from '@guildhall/contract/state'
import { expect, it } from 'vitest'
import { createFakeClock } from '../../../kernel/clock.fake.ts'
import { hookCode } from '../../wire/hooks.ts'
import { op } from '../../wire/output-records.ts'
import { Interrupted } from '../errors.ts'
import { Output } from '../output.ts'
import { readDefinition } from './definition.ts'
import { StateBudget } from './state-budget.ts'
import { StateRoom } from './state-room.ts'
import { StateSyncs } from './state-syncs.ts'

const label = { map: '', mode: 'world', max_players: 8, open: true, tick: true, listed: true }
const identity = { definition: 'world', room_id: 7, match_id: 'm', name: null }

function start(more: object = {}) {
  const definition = readDefinition(
    'world',
    { tick_hz: 20, create: () => ({}), tick: () => {}, ...more },
    undefined,
  )
  const about = { ...identity, label: { ...label, properties: {} } }
  const room = new StateRoom(definition, about, { seq: 0, budget: new StateBudget(() => 1e6) })
  const output = new Output()
  const called: number[] = []
  const waiting: (() => void)[] = []
  const waits: number[] = []
  const interrupts: true[] = []
  const syncs = new StateSyncs({
    clock: createFakeClock(),
    runSoon(hook) {
      if (interrupts.pop()) throw new Interrupted()
      called.push(hook)
    },
    later(ms, task) {
      waits.push(ms)
      waiting.push(task)
    },
    output: () => output,
    describe: String,
    isTested: () => false,
  })
  room.followers.add({ participant: 1, user_id: null, username: null })
  return { room, syncs, output, called, waiting, waits, interrupts }
}

it('[R-STA-2] [S-STA-2] a sync that is lost with its slice is followed by a whole', () => {
  const { room, syncs, output, called, waiting, waits } = start()
  const state = { players: { 1: { x: 0 }, 2: { x: 0 } } }
  room.setState(state)
  /** A tick that moves both; what its slice sends. */
  const tick = (): 'whole' | 'changes' | undefined => {
    for (const player of Object.values(state.players)) player.x += 1
    room.takeState()
    room.acceptState()
    room.ticksSinceSync += 1
    output.take()
    syncs.follow(room, true, output)
    const { buffer, words } = output.take()
    const [first, , at, length] = new Float64Array(buffer, buffer.byteLength - words * 8, words)
    if (first !== op.state) return undefined
    return isStateFull(new Uint8Array(buffer, at, length)) ? 'whole' : 'changes'
  }
  expect([tick(), tick(), tick()]).toEqual(['whole', 'changes', 'changes'])
  syncs.lost(room)
  expect(output.take().texts).toEqual(['world.state', '\ninterrupted at its deadline'])
  expect([tick(), tick()]).toEqual(['whole', 'changes'])
  const later = () => {
    expect(waiting).toHaveLength(1)
    waiting.pop()?.()
    return called.splice(0)
  }
  // Where a slice has led to another sync, nothing is made up for.
  expect(later()).toEqual([])
  for (const _ of [1, 2]) syncs.lost(room)
  expect(later()).toEqual([hookCode.state_sync])
  // The sync that makes up for one may be endless, too.
  syncs.run(room)
  syncs.lost(room)
  expect(later()).toEqual([hookCode.state_sync])
  expect(waits).toEqual([1_000, 1_000, 2_000])
})

it('[R-STA-2] [S-STA-4] a view of a guest that is late ends its slice, and is tried later each time', () => {
  const { room, syncs, output, called, waiting, waits } = start({
    view() {
      throw new Interrupted()
    },
  })
  for (let n = 0; n < 8; n += 1) {
    expect(() => syncs.run(room)).toThrow(Interrupted)
    expect([called.length, waiting.length]).toEqual([0, 0])
    syncs.lost(room)
    expect(output.take().texts).toEqual(['world.view', '\ninterrupted at its deadline'])
    waiting.pop()?.()
    expect(called.splice(0)).toEqual([hookCode.state_sync])
  }
  expect(waits.map((ms) => ms / 1_000)).toEqual([1, 2, 4, 8, 16, 32, 60, 60])
})

it('[R-STA-2] a room whose label has no ticks is followed after its slices', () => {
  const { room, syncs, output, called } = start()
  room.setState({ n: 1 })
  room.takeState()
  syncs.follow(room, false, output)
  expect(called).toEqual([])
  room.label = { ...room.label, tick: false }
  syncs.follow(room, false, output)
  expect(called).toEqual([hookCode.state_sync])
})

it('[R-STA-2] an interrupt before a sync is queued leaves none that nothing leads to', () => {
  const { room, syncs, output, called, waiting, interrupts } = start({ tick_hz: 0 })
  room.setState({ n: 1 })
  room.takeState()
  interrupts.push(true)
  expect(() => syncs.follow(room, false, output)).toThrow(Interrupted)
  syncs.lost(room)
  waiting.pop()?.()
  expect(called).toEqual([hookCode.state_sync])
  // Nor does one before the sync has begun.
  syncs.lost(room)
  waiting.pop()?.()
  expect(called).toHaveLength(2)
})
