import { isDeepStrictEqual } from 'node:util'
import { parseExact } from '@guildhall/contract'
import { encodeStateChanges, encodeStateFull, StateEncoder } from '@guildhall/contract/state'
import { StateDecoder } from '@guildhall/contract/wire'
import { expect, it } from 'vitest'
import { createFakeClock } from '../../../kernel/clock.fake.ts'
import { atEndOfTurn } from '../../../kernel/clock.ts'
import { player, startHarness } from '../../host.fixture.ts'
import { javascript, lua, python } from './random-edit-scripts.fixture.ts'
import { createRandom, editRandomly, editsOr, plain, randomValue } from './random-edits.fixture.ts'
import { StateCopy } from './state-copy.ts'

const edits = editsOr(15_000)
/** In each language that has a process of its own: `STATE_EDITS=100000` takes minutes. */
const editsAbroad = editsOr(2000)
/** Before each sync; about half as many on average. */
const editsAtOnce = 40
const roomId = 7

const languages = [
  ['sandboxed JavaScript', 'main.js', javascript, 'sandboxed'],
  ['Lua', 'main.lua', lua, 'trusted'],
  ['Python', 'main.py', python, 'trusted'],
] as const

const label = { map: '', mode: 'edited', max_players: 0, open: true, tick: false, listed: false }
const room = {
  ...{ definition: 'edited', room_id: roomId, match_id: 'm', name: null },
  label: { ...label, properties: {} },
}

it.each(languages)(
  '[R-STA-3] [S-STA-4] view and changes are the next view, through random edits in %s',
  async (_, file, script, tier) => {
    const decoder = new StateDecoder()
    const clock = createFakeClock()
    const { host, message, delivered, lines } = await startHarness({
      files: { [file]: script },
      config: { tier, memory_mb: 128 },
      gameClock: clock,
      states: { deliverState: ({ body }) => void decoder.take(body) },
    })
    const member = player(1, { room_id: roomId, match_id: 'm' })
    const made = await host.game.stateCreate(member, { room, options: '{}' })
    expect(made.status).toBe('answered')
    host.game.stateWatch(member, true)
    const random = createRandom(3)
    let syncs = 0
    for (let left = editsAbroad; left > 0; syncs += 1) {
      const count = Math.min(left, 1 + random(editsAtOnce))
      left -= count
      await clock.advance(20)
      expect(await message(100, String(count), member)).toBe('ok')
      while (delivered.length === 0) {
        await clock.advance(20)
        await new Promise<void>(atEndOfTurn)
      }
      const said = delivered.splice(0).at(-1)
      expectSame(decoder.view, parseExact(said?.text ?? ''))
    }
    expect(decoder.seq).toBeGreaterThan(syncs / 2)
    expect(lines('warn')).toEqual([])
  },
  900_000,
)

/** A hundred thousand times: what `expect` says costs only where it is wrong. */
function expectSame(view: unknown, next: unknown): void {
  const [a, b] = [plain(view), plain(next)]
  if (!isDeepStrictEqual(a, b)) expect(a).toEqual(b)
}

it('[R-STA-2] [R-STA-3] view and changes are the next view, through random edits', () => {
  const random = createRandom(5)
  const [copy, encoder] = [new StateCopy(), new StateEncoder(2)]
  // The same as a view, which is made anew each time.
  const [viewed, viewer] = [new StateEncoder(2), new StateDecoder()]
  let decoder = new StateDecoder()
  let state: { [name: string]: unknown } = { a: {}, list: [] }
  copy.update(state)
  let [slices, syncs] = [0, 0]
  for (let n = 0; n < edits; n += 1) {
    if (n % 250 === 249) state = { a: randomValue(random), b: randomValue(random), list: [] }
    // More members of one part than are noted one by one.
    if (random(100) === 0) state.wide = Array.from({ length: 60 }, () => random(1000))
    else editRandomly(state, random)
    moveSome(state, random)
    if (random(3) > 0 && copy.update(state)) slices += 1
    if (n % 20 === 0) {
      // A slice that fails is taken back, and changes nothing for those who follow.
      editRandomly(state, random)
      state.bad = undefined
      expect(() => copy.update(state)).toThrow('bad is undefined')
      state = copy.fresh() as typeof state
    }
    if (random(2) > 0) continue
    syncs += 1
    const change = encoder.compare(copy.value)
    if (change === 'whole') decoder.take(encodeStateFull({ seq: n, room_id: roomId }, encoder))
    else if (change !== 'none') decoder.take(encodeStateChanges(n, change))
    expectSame(decoder.view, copy.fresh())
    const seen = viewed.compare(copy.fresh())
    if (seen === 'whole') viewer.take(encodeStateFull({ seq: n, room_id: roomId }, viewed))
    else if (seen !== 'none') viewer.take(encodeStateChanges(n, seen))
    expectSame(viewer.view, copy.fresh())
    if (random(20) > 0) continue
    // Who comes now goes on from here.
    decoder = new StateDecoder()
    decoder.take(encodeStateFull({ seq: n, room_id: roomId }, encoder))
  }
  expect(slices).toBeGreaterThan(edits / 4)
  expect(syncs).toBeGreaterThan(edits / 4)
}, 900_000)

/** Numbers with decimals that grow and shrink, and now and then are something else, or nothing. */
function moveSome(state: { [name: string]: unknown }, random: (below: number) => number): void {
  state.moving ??= { x: 0.5, y: 1.25, name: 'text', angle: -2.75 }
  const { moving } = state as { moving: { [name: string]: unknown } }
  for (const name of ['x', 'y', 'angle']) {
    const at = moving[name]
    const chance = random(40)
    if (chance === 0) moving[name] = [null, 'text', 7, 1e21, { x: 0.5 }][random(5)]
    else if (chance === 1) delete moving[name]
    else if (chance < 20) moving[name] = (typeof at === 'number' ? at : 0) + random(400) / 4 - 50.25
  }
}

it('[R-STA-3] a member that is hidden from JSON is gone for those who follow', () => {
  const [copy, encoder, decoder] = [new StateCopy(), new StateEncoder(), new StateDecoder()]
  const state = { shown: 1, hidden: 2, more: { shown: 3 } }
  copy.update(state)
  encoder.compare(copy.value)
  decoder.take(encodeStateFull({ seq: 1, room_id: roomId }, encoder))
  Object.defineProperty(state, 'hidden', { enumerable: false })
  expect(copy.update(state)).toBe(true)
  const change = encoder.compare(copy.value)
  if (change === 'whole') decoder.take(encodeStateFull({ seq: 2, room_id: roomId }, encoder))
  else if (change !== 'none') decoder.take(encodeStateChanges(2, change))
  expect(decoder.view).toEqual({ shown: 1, more: { shown: 3 } })
})
