import { expect, it } from 'vitest'
import { createFakeClock } from '../../kernel/clock.fake.ts'
import { createIds } from '../../kernel/ids.ts'
import { createHandles, createSealedHandles, type Held } from './database.handles.ts'

const handlesMax = 100_000
const lifeMs = 5 * 60_000

function openDeps() {
  const clock = createFakeClock()
  return { clock, ids: createIds({ clock, nodeId: 'dev-1', bootId: 'bt1-tests' }) }
}

function open() {
  const deps = openDeps()
  return { ...deps, handles: createHandles(deps) }
}

const held = (at: number): Held => ({ is: 'row', owner: 'ana', key: [at], digest: '' })

it('[H-DBX-7] keeps 100,000 handles of a node, and gives up the oldest', () => {
  const { handles } = open()
  const issued = Array.from({ length: handlesMax }, (_, at) => handles.issue(held(at)))
  expect(handles.find(issued[0] ?? '')).toEqual(held(0))
  const more = handles.issue(held(-1))
  expect(handles.find(issued[0] ?? '')).toBeUndefined()
  expect(handles.find(issued[1] ?? '')).toEqual(held(1))
  expect(handles.find(issued[handlesMax - 1] ?? '')).toEqual(held(handlesMax - 1))
  expect(handles.find(more)).toEqual(held(-1))
})

it('[H-DBX-7] forgets a handle after five minutes, and makes no two alike', async () => {
  const { clock, handles } = open()
  const [first, second] = [handles.issue(held(1)), handles.issue(held(1))]
  expect([first, second].every((handle) => /^[\w-]{43}$/.test(handle))).toBe(true)
  expect(first).not.toBe(second)
  await clock.advance(lifeMs - 1)
  expect(handles.find(first)).toEqual(held(1))
  await clock.advance(1)
  expect(handles.find(first)).toBeUndefined()
})

it('[O-NOD-4] a sealed handle holds its value for five minutes, on every node', async () => {
  const deps = openDeps()
  const secret = deps.ids.bytes(32)
  const [one, two] = [
    createSealedHandles({ ...deps, secret }),
    createSealedHandles({ ...deps, secret }),
  ]
  const after = ['x', 1.5, null, 2n ** 63n - 1n, Uint8Array.of(0, 255)]
  const values: Held[] = [
    { is: 'cursor', owner: 'ana', question: 'q', after },
    { is: 'row', owner: 'ana', key: after, digest: 'd' },
  ]
  const handles = values.map(one.issue)
  expect(handles.map(two.find)).toEqual(values)
  expect(one.issue(held(1))).not.toBe(one.issue(held(1)))
  expect(Buffer.from(handles[0] ?? '', 'base64url').toString('latin1')).not.toContain('ana')
  await deps.clock.advance(lifeMs - 1)
  expect(handles.map(two.find)).toEqual(values)
  await deps.clock.advance(1)
  expect(handles.map(two.find)).toEqual([undefined, undefined])
})

it('[O-NOD-4] what is not sealed with the secret of the deployment is no handle', () => {
  const deps = openDeps()
  const handles = createSealedHandles({ ...deps, secret: deps.ids.bytes(32) })
  const other = createSealedHandles({ ...deps, secret: deps.ids.bytes(32) })
  const handle = handles.issue(held(1))
  const bytes = Buffer.from(handle, 'base64url')
  for (const at of [0, 12, bytes.length - 1]) {
    const changed = Buffer.from(bytes)
    changed[at] = (changed[at] ?? 0) ^ 1
    expect(handles.find(changed.toString('base64url'))).toBeUndefined()
  }
  const wrong = ['', 'x', '!', 'x'.repeat(43), handle.slice(0, -4), other.issue(held(1))]
  expect(wrong.map(handles.find)).toEqual(wrong.map(() => undefined))
})
