import { isStateFull } from '@guildhall/contract/state'
import { expect, it } from 'vitest'
import { createFakeClock } from '../../../kernel/clock.fake.ts'
import { hookCode } from '../../wire/hooks.ts'
import { op } from '../../wire/output-records.ts'
import { Output } from '../output.ts'
import { readDefinition } from './definition.ts'
import { StateBudget } from './state-budget.ts'
import { StateRoom } from './state-room.ts'
import { StateSyncs } from './state-syncs.ts'

const label = { map: '', mode: 'world', max_players: 8, open: true, tick: true, listed: true }
const identity = { definition: 'world', room_id: 7, match_id: 'm', name: null }

it('[R-STA-2] [S-STA-2] a sync that is lost with its slice is followed by a whole', () => {
  const definition = readDefinition(
    'world',
    { tick_hz: 20, create: () => ({}), tick: () => {} },
    undefined,
  )
  const about = { ...identity, label: { ...label, properties: {} } }
  const room = new StateRoom(definition, about, { seq: 0, budget: new StateBudget(() => 1e6) })
  const output = new Output()
  const called: number[] = []
  const waiting: (() => void)[] = []
  const syncs = new StateSyncs({
    clock: createFakeClock(),
    runSoon: (hook) => called.push(hook),
    later: (_ms, task) => waiting.push(task),
    output: () => output,
    describe: String,
    isTested: () => false,
  })
  const state = { players: { 1: { x: 0 }, 2: { x: 0 } } }
  room.setState(state)
  room.followers.add({ participant: 1, user_id: null, username: null })
  /** A tick that moves both; what its slice sends. */
  const tick = (): 'whole' | 'changes' | undefined => {
    for (const player of Object.values(state.players)) player.x += 1
    room.takeState()
    room.ticksSinceSync += 1
    syncs.follow(room, true, output)
    const { buffer, words } = output.take()
    const [first, , at, length] = new Float64Array(buffer, buffer.byteLength - words * 8, words)
    if (first !== op.state) return undefined
    return isStateFull(new Uint8Array(buffer, at, length)) ? 'whole' : 'changes'
  }
  expect([tick(), tick(), tick()]).toEqual(['whole', 'changes', 'changes'])
  expect(room.hasSynced).toBe(true)
  syncs.lost(room)
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
  // Nor is the sync that makes up for one.
  syncs.lost(room)
  expect(waiting).toEqual([])
})
