import { expect, it } from 'vitest'
import { hookCode } from '../wire/hooks.ts'
import { op } from '../wire/output-records.ts'
import { Router } from './router.ts'
import { createScripts, newCall } from './serving.fixture.ts'

/** Two scripts under one router: `first` serves, `second` has loaded. */
function create({ bindsRooms = false, bound = new Map<number, number>() } = {}) {
  const scripts = createScripts()
  const { inbox, clock, states } = scripts
  const done: number[] = []
  const router = new Router({
    inbox,
    generationOf: (room) => bound.get(room) ?? null,
    hasRooms: (generation) => [...bound.values()].includes(generation),
    activating() {},
    done: ({ identity }) => done.push(identity.generation),
  })
  const settled = router.settled.bind(router)
  const first = scripts.open([], settled)
  router.activate(first.script, { bindsRooms })
  const outcomes: string[] = []
  const message = (participant: number, detail: number, room_id: number | null = null) =>
    router.call(
      newCall({
        ...{ hook: hookCode.on_message, participant, detail, room_id },
        settle: ({ status }) => outcomes.push(`${detail} ${status}`),
      }),
    )
  return {
    ...{ router, first, inbox, clock, outcomes, message, bound, done, states },
    endOfTurn: () => clock.advance(0),
    /** From here on a second script is active. */
    swap() {
      const second = scripts.open([], settled)
      router.activate(second.script, { bindsRooms })
      return second
    },
  }
}

const details = (got: { detail: number }[]) => got.map(({ detail }) => detail)

it('[S-REL-4] new calls go to the new script while the old one ends what it has', async () => {
  const { router, first, message, swap, endOfTurn, outcomes, inbox } = create()
  message(1, 101)
  await endOfTurn()
  first.answered(1)
  const second = swap()
  message(2, 102)
  await endOfTurn()
  expect([details(first.got()), details(second.got())]).toEqual([[101], [102]])
  expect([first.script.isIdle, router.isQuiet]).toEqual([false, false])
  second.answered(1)
  second.done(1)
  first.done(1)
  expect([outcomes, inbox.calls()]).toEqual([['102 ok', '101 ok'], 0])
  expect([first.script.isIdle, router.isQuiet]).toEqual([true, true])
})

it('[S-REL-4] calls that were not sent yet go to the new script, in their order', async () => {
  const { first, message, swap, endOfTurn, inbox } = create()
  message(1, 101)
  message(2, 102)
  const second = swap()
  message(3, 103)
  await endOfTurn()
  expect([details(first.got()), details(second.got())]).toEqual([[], [101, 102, 103]])
  expect(inbox.calls()).toBe(3)
})

it('[S-REL-4] [S-INV-2] a call waits in the node for one that the old script has', async () => {
  const { router, first, message, swap, endOfTurn, inbox } = create()
  message(1, 101)
  message(2, 102)
  await endOfTurn()
  first.answered(1)
  const second = swap()
  message(1, 111)
  message(1, 112)
  message(3, 113)
  router.call(newCall({ hook: hookCode.on_rpc, participant: 1, detail: 114, text: 'x' }))
  await endOfTurn()
  expect(details(second.got())).toEqual([113, 114])
  expect([inbox.calls(), router.isQuiet]).toEqual([6, false])
  second.answered(1)
  first.done(1)
  await endOfTurn()
  expect(details(second.got())).toEqual([113, 114, 111, 112])
  expect(inbox.calls()).toBe(5)
})

it('[S-REL-4] [S-INV-2] an RPC waits for the join that the old script runs, and what comes behind it', async () => {
  const { router, first, message, swap, endOfTurn } = create()
  router.call(newCall({ hook: hookCode.on_join, participant: 1, detail: 1 }))
  router.call(newCall({ hook: hookCode.on_match_join, room_id: 5, detail: 2 }))
  await endOfTurn()
  first.answered(1)
  const second = swap()
  router.call(newCall({ hook: hookCode.on_rpc, participant: 1, detail: 11, text: 'x' }))
  router.call(newCall({ hook: hookCode.on_match_leave, room_id: 5, detail: 12 }))
  router.call(newCall({ hook: hookCode.on_match_leave, room_id: 6, detail: 13 }))
  message(1, 14)
  await endOfTurn()
  expect(details(second.got())).toEqual([13])
  second.answered(1)
  first.done(2)
  await endOfTurn()
  expect(details(second.got())).toEqual([13, 12])
  second.answered(1)
  first.done(1)
  await endOfTurn()
  expect(details(second.got())).toEqual([13, 12, 11, 14])
})

it('[S-REL-4] [S-REC-5] calls wait no longer when the old worker is gone', async () => {
  const { router, first, message, swap, endOfTurn, outcomes } = create()
  message(1, 101)
  await endOfTurn()
  first.answered(1)
  const second = swap()
  message(1, 111)
  await endOfTurn()
  router.end(first.script)
  await endOfTurn()
  expect([outcomes, details(second.got())]).toEqual([['101 lost'], [111]])
  expect(router.former).toBe(undefined)
})

it('[S-REL-7] calls of rooms that are bound to the old script go on to it', async () => {
  const bound = new Map([[5, 1]])
  const { router, first, message, swap, endOfTurn } = create({ bindsRooms: true, bound })
  message(1, 101, 5)
  const second = swap()
  bound.set(6, 2)
  message(1, 102, 5)
  message(2, 103, 6)
  message(3, 104, null)
  // A match that has ended is no room any more; its call says what it was bound to.
  router.call(newCall({ hook: hookCode.on_match_ended, room_id: 7, detail: 105, generation: 1 }))
  await endOfTurn()
  expect(details(first.got())).toEqual([101, 102, 105])
  expect(details(second.got())).toEqual([103, 104])
})

it('[S-REL-5] [S-API-9] timers end with their script, those of bound rooms go on', async () => {
  for (const bindsRooms of [false, true]) {
    const { first, swap, clock } = create({ bindsRooms })
    first.receive([op.every, 1, 1000])
    await clock.advance(1000)
    swap()
    await clock.advance(3000)
    first.answered(1)
    await clock.advance(3000)
    expect(first.got().length, String(bindsRooms)).toBe(1)
    first.done(1)
    await clock.advance(1000)
    expect(first.got().length, String(bindsRooms)).toBe(bindsRooms ? 2 : 1)
  }
})

it('[R-STA-6] states are of the script that has the room, also while the old one ends a call', () => {
  for (const bindsRooms of [false, true]) {
    const { first, swap, states } = create({ bindsRooms })
    const say = ({ receive }: typeof first) =>
      receive([op.state, 7, 0, 0, 1, 3, op.saved, 7, 1, 0], 0, ['{}'])
    say(first)
    const second = swap()
    expect(states.splice(0)).toEqual(['7 is sent', '7 is saved'])
    say(first)
    expect(states.splice(0).length, String(bindsRooms)).toBe(bindsRooms ? 2 : 0)
    say(second)
    expect(states).toHaveLength(2)
  }
})

it('[S-HK-12] calls wait until on_start has settled, but for timers and filters', async () => {
  const { open, inbox, clock } = createScripts()
  const { script, started, got, answered, done, receive } = open(['on_start'])
  let hasStarted = false
  void started.then(() => {
    hasStarted = true
  })
  receive([op.after, 1, 10])
  script.call(newCall({ hook: hookCode.on_rpc, text: 'x' }))
  script.call(newCall({ hook: hookCode.register_storage_index_filter, text: '{}' }))
  await clock.advance(10)
  answered(1)
  await clock.advance(0)
  const hooks = () => got().map(({ hook }) => hook)
  const first = [hookCode.on_start, hookCode.register_storage_index_filter, hookCode.timer]
  expect([hooks(), inbox.calls(), script.isHeld]).toEqual([first, 4, true])
  answered(1)
  done(1)
  await clock.advance(0)
  expect([hooks(), hasStarted]).toEqual([[...first, hookCode.on_rpc], true])
  expect(script.isHeld).toBe(false)
})
