import type { StatementSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { createFakeClock } from '../../../kernel/clock.fake.ts'
import { silentLog } from '../../testing/silent-log.ts'
import { Checkpoints } from './checkpoints.ts'

const framesMax = 65_536

/** Checkpoints of a log whose length the test says, and which end when the test lets them. */
function open() {
  const pages = { log: 0, checkpointed: 0 }
  const begun: PromiseWithResolvers<string | null>[] = []
  const worker = {
    ask() {
      const checkpoint = Promise.withResolvers<string | null>()
      begun.push(checkpoint)
      return checkpoint.promise
    },
    close: async () => {},
  }
  const length = { get: () => ({ ...pages }) } as unknown as StatementSync
  const connection = { inTransaction: false, command: () => length }
  const deps = { path: 'x', connection, clock: createFakeClock(), log: silentLog }
  const checkpoints = new Checkpoints(deps, { framesMax, worker })
  return {
    begun,
    isHeld: () => checkpoints.held !== undefined,
    close: () => checkpoints.close(),
    commit(log: number) {
      pages.log = log
      checkpoints.committed()
    },
    async end(checkpointed: number, problem: string | null = null) {
      pages.checkpointed = checkpointed
      begun.at(-1)?.resolve(problem)
      await new Promise(setImmediate)
    },
  }
}

it('[O-DB-6] writers wait for one short checkpoint, not for what is left of a long one', async () => {
  const { begun, isHeld, commit, end } = open()
  commit(60_000)
  expect(begun).toHaveLength(1)
  commit(framesMax)
  commit(80_000)
  expect([begun.length, isHeld()]).toEqual([1, false])
  // Much came meanwhile: that is moved before anybody waits.
  await end(60_000)
  expect([begun.length, isHeld()]).toEqual([2, false])
  commit(81_000)
  await end(80_000)
  expect([begun.length, isHeld()]).toEqual([3, true])
  await end(81_000)
  expect([begun.length, isHeld()]).toEqual([3, false])
})

it('what writers wait for is the shorter, the shorter the log still is', async () => {
  const { begun, isHeld, commit, end } = open()
  commit(framesMax - 100)
  commit(framesMax + 100)
  await end(framesMax - 600)
  expect([begun.length, isHeld()]).toEqual([2, false])
  await end(framesMax - 400)
  expect([begun.length, isHeld()]).toEqual([3, true])
})

it('a log that is half again as long makes writers wait at once', async () => {
  const { begun, isHeld, commit, end } = open()
  commit(60_000)
  commit(framesMax * 1.5 - 1)
  expect(isHeld()).toBe(false)
  commit(framesMax * 1.5)
  expect([begun.length, isHeld()]).toEqual([1, true])
  await end(60_000)
  await end(framesMax * 1.5)
  expect([begun.length, isHeld()]).toEqual([2, false])
})

it('a checkpoint that can move nothing is not begun again before the next commit', async () => {
  const { begun, isHeld, commit, end } = open()
  commit(60_000)
  commit(70_000)
  await end(1000)
  await end(1000)
  expect([begun.length, isHeld()]).toEqual([2, false])
  commit(70_001)
  expect([begun.length, isHeld()]).toEqual([3, false])
})

it('no checkpoint begins behind the close', async () => {
  const { begun, commit, close, end } = open()
  commit(60_000)
  commit(70_000)
  await close()
  await end(60_000)
  expect(begun).toHaveLength(1)
})

it('a checkpoint that fails holds nobody', async () => {
  const { begun, isHeld, commit, end } = open()
  commit(60_000)
  commit(framesMax)
  await end(0, 'the disk is full')
  expect([begun.length, isHeld()]).toEqual([1, false])
})
