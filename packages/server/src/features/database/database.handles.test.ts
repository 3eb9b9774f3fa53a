import { expect, it } from 'vitest'
import { createFakeClock } from '../../kernel/clock.fake.ts'
import { createIds } from '../../kernel/ids.ts'
import { createHandles } from './database.handles.ts'

const handlesMax = 100_000

function open() {
  const clock = createFakeClock()
  const ids = createIds({ clock, nodeId: 'dev-1', bootId: 'bt1-tests' })
  return { clock, handles: createHandles<number>({ clock, ids }) }
}

it('[H-DBX-7] keeps 100,000 handles of a node, and gives up the oldest', () => {
  const { handles } = open()
  const issued = Array.from({ length: handlesMax }, (_, at) => handles.issue(at))
  expect(handles.find(issued[0] ?? '')).toBe(0)
  const more = handles.issue(-1)
  expect(handles.find(issued[0] ?? '')).toBeUndefined()
  expect(handles.find(issued[1] ?? '')).toBe(1)
  expect(handles.find(issued[handlesMax - 1] ?? '')).toBe(handlesMax - 1)
  expect(handles.find(more)).toBe(-1)
})

it('[H-DBX-7] forgets a handle after five minutes, and makes no two alike', async () => {
  const { clock, handles } = open()
  const [first, second] = [handles.issue(1), handles.issue(1)]
  expect([first, second].every((handle) => /^[\w-]{43}$/.test(handle))).toBe(true)
  expect(first).not.toBe(second)
  await clock.advance(5 * 60_000 - 1)
  expect(handles.find(first)).toBe(1)
  await clock.advance(1)
  expect(handles.find(first)).toBeUndefined()
})
