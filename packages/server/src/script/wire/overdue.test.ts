import { describe, expect, it } from 'vitest'
import { isOverdue } from './overdue.ts'

const idsAround = (first: number) => [first, first + 1, first + 2, first + 3]

describe('a slice past its deadline', () => {
  it.each([1, 2 ** 31 - 2, 2 ** 32 - 2, 2 ** 40])(
    '[S-LIM-2] concerns the call that computed, or all that had begun: ids from %d',
    (first) => {
      const ids = idsAround(first)
      const known = { running: (first + 1) | 0, begun: (first + 2) | 0 }
      expect(ids.map((id) => isOverdue(id, known))).toEqual([false, true, false, false])
      const unknown = { running: 0, begun: (first + 2) | 0 }
      expect(ids.map((id) => isOverdue(id, unknown))).toEqual([true, true, true, false])
    },
  )
})
