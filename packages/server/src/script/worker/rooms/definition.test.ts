import { expect, it } from 'vitest'
import { readDefinition } from './definition.ts'

const create = () => ({})
const fn = () => {}

it.each<[string, unknown, unknown, string]>([
  ['without a name', '', { create }, 'name must be 1 to 128 bytes'],
  ['with a name of two lines', 'a\nb', { create }, 'without control characters'],
  ['with a long name', 'é'.repeat(65), { create }, 'name must be 1 to 128 bytes'],
  ['that is a list', 'den', [create], 'must be an object'],
  ['without create', 'den', { tick: fn }, 'room den: create is missing'],
  [
    'with a member that is none',
    'den',
    { create, crate: fn },
    'there is no member crate; there are create, restore, admit, join',
  ],
  ['with own but no view', 'den', { create, own: fn }, 'own needs a view'],
  ['with a view that is a value', 'den', { create, view: {} }, 'view is not a function'],
  ['of 121 ticks a second', 'den', { create, tick_hz: 121 }, 'tick_hz must be an integer'],
  ['of half a tick a second', 'den', { create, tick_hz: 0.5 }, 'tick_hz must be an integer'],
  ['without syncs', 'den', { create, sync_hz: 0 }, 'sync_hz must be an integer of 1 to 60'],
  ['with 7 decimals', 'den', { create, decimals: { x: 7 } }, 'decimals must be 0 to 6'],
  ['with a text as track', 'den', { create, track: 'yes' }, 'track must be a boolean'],
  ['with a kind of the platform', 'den', { create, message: { 50: fn } }, 'no handler for 50'],
  ['with a kind that is a name', 'den', { create, message: { move: fn } }, 'no handler for move'],
  [
    'with a built-in method',
    'den',
    { create, rpc: { 'party.create': fn } },
    'no handler for party',
  ],
  [
    'with a method that is a value',
    'den',
    { create, rpc: { play: 1 } },
    'rpc.play is not a function',
  ],
])('[S-STA-1] a definition %s is refused', (_, name, given, problem) => {
  expect(() => readDefinition(name, given, undefined)).toThrow(problem)
})

it('[R-STA-2] [S-STA-4] a definition has its rates, and is tracked where values are shared', () => {
  const given = { create, track: true, tick_hz: 20 }
  const guest = { read: fn, write: fn, forget: fn, view: fn, own: fn }
  expect(readDefinition('den', given, undefined)).toMatchObject({ syncHz: 20, isTracked: true })
  expect(readDefinition('den', given, guest)).toMatchObject({ tickHz: 20, isTracked: false })
})
