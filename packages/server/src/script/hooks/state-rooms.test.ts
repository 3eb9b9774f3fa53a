import { describe, expect, it } from 'vitest'
import type { Outcome } from '../calls.ts'
import { noPorts } from '../ports.ts'
import { createStateRooms } from './state-rooms.ts'

/** Two rooms with state, and workers whose answers the test makes. */
function create() {
  const restored: string[] = []
  const kept = [5, 6].map((room_id) => {
    const identity = { definition: 'den', room_id, match_id: `m${room_id}`, name: null }
    const label = { map: '', mode: 'den', max_players: 0, open: true, tick: false, listed: false }
    return { ...identity, label: { ...label, properties: {} }, members: [], state: '1', seq: 1 }
  })
  const stateRooms = createStateRooms({
    router: { active: undefined, call() {}, pick: () => undefined },
    states: () => ({
      ...noPorts.states,
      keptRooms: () => kept,
      restoredState: (id, isThere) => restored.push(`${id} ${isThere ? 'goes on' : 'is closed'}`),
    }),
  })
  /** A worker that ends the restores of both rooms like this. */
  const worker = (...outcomes: readonly Outcome[]) => {
    const settles: ((outcome: Outcome) => void)[] = []
    stateRooms.restoreAll({ call: ({ settle }) => void settles.push(settle) })
    for (const [at, outcome] of outcomes.entries()) settles[at]?.(outcome)
    return restored.splice(0)
  }
  return { worker, stateRooms }
}

const ok: Outcome = { status: 'ok', reply: new Uint8Array() }
const suspect: Outcome = { status: 'timed_out', isSuspect: true }

describe('[R-STA-6] what is kept of rooms', () => {
  it('closes the one whose restore fails or is late, and no other', () => {
    const { worker } = create()
    expect(worker(ok, { status: 'error' })).toEqual(['5 goes on', '6 is closed'])
    expect(worker({ status: 'timed_out' }, ok)).toEqual(['5 is closed', '6 goes on'])
  })

  it('stays for the next worker when one is lost', () => {
    const { worker } = create()
    for (let n = 0; n < 3; n += 1)
      expect(worker({ status: 'lost' }, { status: 'lost' })).toEqual([])
    expect(worker(ok, ok)).toEqual(['5 goes on', '6 goes on'])
  })

  it('stays once when nobody knows whose restore has ended the worker', () => {
    const { worker, stateRooms } = create()
    expect(worker(suspect, suspect)).toEqual([])
    expect(worker(ok, suspect)).toEqual(['5 goes on', '6 is closed'])
    // Who was restored begins anew, and so does another room under the same number.
    expect(worker(suspect, suspect)).toEqual([])
    stateRooms.ended(6)
    expect(worker(suspect, suspect)).toEqual(['5 is closed'])
  })
})
