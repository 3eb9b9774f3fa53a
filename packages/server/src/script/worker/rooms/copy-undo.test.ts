import { expect, it } from 'vitest'
import { CopyPart, thaw } from './copy-part.ts'
import { CopyUndo } from './copy-undo.ts'

it('[S-STA-2] what is taken back goes on where an interrupt has ended it', () => {
  const undo = new CopyUndo()
  const [first, renamed] = [
    new CopyPart(['x'], [1], {}),
    new CopyPart(['a', 'b'], ['text', { frozen: true }], {}),
  ]
  undo.keep(first, 0, 1)
  first.put(0, 2)
  undo.keepAll(renamed)
  renamed.take(['n', 'b'], [3, 4])
  undo.keep(renamed, 0, 3)
  renamed.put(0, 5)
  const { put } = first
  first.put = () => {
    throw new Error('interrupted')
  }
  expect(() => undo.rollBack()).toThrow('interrupted')
  first.put = put
  undo.rollBack()
  expect([first, renamed].map(thaw)).toEqual([{ x: 1 }, { a: 'text', b: { frozen: true } }])
})
