import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { atEndOfTurn } from '../clock.ts'
import { createCombiner } from './combiner.ts'

const nextTurn = () => new Promise<void>((resolve) => atEndOfTurn(resolve))

/** Long enough for a run to end and for the next one to begin. */
async function someTurns(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await nextTurn()
}

/** A combiner of doubling, whose runs wait until they are let go. */
function openDoubling(itemsMax = 100, runsMax?: number) {
  const runs: { items: readonly number[]; finish: () => void; fail: (error: Error) => void }[] = []
  const double = createCombiner<number, number>({
    itemsMax,
    ...(runsMax === undefined ? {} : { runsMax }),
    run: (items) =>
      new Promise((resolve, reject) => {
        const finish = () => resolve(items.map((item) => ({ ok: true, value: item * 2 })))
        runs.push({ items, finish, fail: reject })
      }),
  })
  return { double, runs }
}

describe('a combiner', () => {
  it('runs the calls of one turn together, when the turn ends', async () => {
    const { double, runs } = openDoubling()
    const answers = Promise.all([double(1), double(2)])
    await Promise.resolve()
    expect(runs).toHaveLength(0)
    await nextTurn()
    expect(runs.map((run) => run.items)).toEqual([[1, 2]])
    runs[0]?.finish()
    expect(await answers).toEqual([2, 4])
  })

  it('collects what comes while a run is under way, and has one run at a time', async () => {
    const { double, runs } = openDoubling()
    const first = double(1)
    await nextTurn()
    const others = [double(2)]
    await nextTurn()
    others.push(double(3))
    await nextTurn()
    expect(runs).toHaveLength(1)
    runs[0]?.finish()
    expect(await first).toBe(2)
    await someTurns()
    expect(runs.map((run) => run.items)).toEqual([[1], [2, 3]])
    runs[1]?.finish()
    expect(await Promise.all(others)).toEqual([4, 6])
  })

  it('shares what waits among the runs that may begin', async () => {
    const { double, runs } = openDoubling(100, 2)
    const answers = [1, 2, 3, 4, 5].map(double)
    await nextTurn()
    expect(runs.map((run) => run.items)).toEqual([[1, 2, 3]])
    await nextTurn()
    answers.push(double(6), double(7))
    await someTurns()
    expect(runs.map((run) => run.items)).toEqual([
      [1, 2, 3],
      [4, 5],
    ])
    runs[1]?.finish()
    await someTurns()
    expect(runs.slice(2).map((run) => run.items)).toEqual([[6, 7]])
    runs[0]?.finish()
    runs[2]?.finish()
    expect(await Promise.all(answers)).toEqual([2, 4, 6, 8, 10, 12, 14])
  })

  it('waits for its turn among others, and takes what comes until then', async () => {
    const begin: (() => void)[] = []
    const runs: (readonly number[])[] = []
    const double = createCombiner<number, number>({
      itemsMax: 100,
      async run(items) {
        runs.push(items)
        return items.map((item) => ({ ok: true, value: item * 2 }))
      },
      async inTurn(run) {
        await new Promise<void>((resolve) => begin.push(resolve))
        await run()
      },
    })
    const answers = [double(1), double(2)]
    await someTurns()
    answers.push(double(3))
    await someTurns()
    expect([runs, begin.length]).toEqual([[], 1])
    begin[0]?.()
    expect(await Promise.all(answers)).toEqual([2, 4, 6])
    const last = double(4)
    await someTurns()
    begin[1]?.()
    expect(await last).toBe(8)
    expect(runs).toEqual([[1, 2, 3], [4]])
  })

  it('gives a run at most so many items, in the order in which they came', async () => {
    const { double, runs } = openDoubling(2)
    const answers = Promise.all([1, 2, 3, 4, 5].map(double))
    for (let run = 0; run < 3; run += 1) {
      await someTurns()
      runs[run]?.finish()
    }
    expect(await answers).toEqual([2, 4, 6, 8, 10])
    expect(runs.map((run) => run.items)).toEqual([[1, 2], [3, 4], [5]])
  })

  it('fails all calls of a run that throws, and goes on with the next', async () => {
    const { double, runs } = openDoubling(2)
    const settled = Promise.allSettled([double(1), double(2), double(3)])
    await someTurns()
    runs[0]?.fail(new Error('connection lost'))
    await someTurns()
    runs[1]?.finish()
    expect((await settled).map((result) => result.status)).toEqual([
      'rejected',
      'rejected',
      'fulfilled',
    ])
  })

  it('fails everybody rather than give a call the result of another', async () => {
    for (const values of [[], [1], [1, 2, 3]]) {
      const results = values.map((value) => ({ ok: true, value }) as const)
      const wrong = createCombiner<number, number>({ itemsMax: 9, run: async () => results })
      const message = 'a combined run lost some results'
      const refused = { status: 'rejected', reason: { message } }
      expect(await Promise.allSettled([wrong(1), wrong(2)])).toMatchObject([refused, refused])
    }
  })

  it('gives every call its own result, whenever it comes', async () => {
    const call = fc.record({ item: fc.integer(), fails: fc.boolean(), turnsBefore: fc.nat(2) })
    const property = fc.asyncProperty(
      fc.array(call, { maxLength: 20, size: 'max' }),
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 3 }),
      async (calls, itemsMax, runsMax) => {
        let running = 0
        const ran: (typeof calls)[number][] = []
        const combined = createCombiner<(typeof calls)[number], number>({
          itemsMax,
          runsMax,
          async run(items) {
            running += 1
            expect(running).toBeLessThanOrEqual(runsMax)
            expect(items.length).toBeLessThanOrEqual(itemsMax)
            await nextTurn()
            ran.push(...items)
            running -= 1
            return items.map(({ item, fails }) => {
              return fails ? { ok: false, error: item } : { ok: true, value: item }
            })
          },
        })
        const answers: Promise<unknown>[] = []
        for (const each of calls) {
          for (let turn = 0; turn < each.turnsBefore; turn += 1) await nextTurn()
          const answer = combined(each)
          answers.push(
            answer.then(
              (value) => ({ value }),
              (error) => ({ error }),
            ),
          )
        }
        const expected = calls.map(({ item, fails }) => (fails ? { error: item } : { value: item }))
        expect(await Promise.all(answers)).toEqual(expected)
        expect(ran).toEqual(calls)
      },
    )
    await fc.assert(property, { numRuns: 50 })
  })
})
