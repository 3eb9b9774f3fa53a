import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Database } from '../../database/database.ts'
import { statement } from '../../database/statement.ts'
import { type TestDatabase, testBackends } from '../../database/testing/backends.ts'
import { createFakeClock, type FakeClock } from '../../kernel/clock.fake.ts'
import { Failure } from '../../kernel/failure.ts'
import { type AdmissionRule, admissionRules, createAdmission } from './admission.service.ts'

const windows = statement({
  name: 'tests.windows',
  text: 'SELECT starts_at_unix_ms, taken FROM admission_windows ORDER BY taken',
  row: { starts_at_unix_ms: 'integer', taken: 'integer' },
})
const window_ms = 1000

type Limits = Record<AdmissionRule, number>

describe.each(testBackends)('the counts of admission on $name', ({ name, open }) => {
  let test: TestDatabase
  let clock: FakeClock
  const secret = randomBytes(32)
  beforeEach(async () => {
    test = await open()
    clock = createFakeClock()
  })
  afterEach(() => test.dispose())

  const limitsOf = (limits: Limits) =>
    Object.fromEntries(
      admissionRules.map((rule) => [rule, { limit: limits[rule], window_ms }]),
    ) as Record<AdmissionRule, { limit: number; window_ms: number }>
  const nodeWith = (limits: Limits, db: Database = test.db) =>
    createAdmission({ db, clock, secret, limits: limitsOf(limits), count: () => {} })
  const each = (limit: number): Limits =>
    Object.fromEntries(admissionRules.map((rule) => [rule, limit])) as Limits
  const plan = (...rules: AdmissionRule[]) => rules.map((rule) => ({ rule, values: ['x'] }))
  /** What the windows of this moment have taken, those that have taken something. */
  const taken = async () => {
    const start = Math.floor(clock.nowUnixMs() / window_ms) * window_ms
    // In a transaction: counters may not be where readers see them yet.
    const rows = await test.db.transaction((tx) => tx.all(windows, {}))
    return rows.flatMap((row) => (row.starts_at_unix_ms === start ? [row.taken] : []))
  }
  const isRefused = (error: unknown) => {
    if (error instanceof Failure && error.code === 'rate_limited') return undefined
    throw error
  }

  const request = fc.record({
    node: fc.nat(3),
    rules: fc.uniqueArray(fc.constantFrom(...admissionRules), { minLength: 1, maxLength: 3 }),
    isGivenBack: fc.boolean(),
    turns: fc.nat(3),
  })
  const limit = fc.integer({ min: 1, max: 12 })
  const limits = fc.record({
    source: limit,
    email: limit,
    registration_source: limit,
    console_login: limit,
    console_login_source: limit,
  })

  it('[H-ADM-1] [H-ADM-2] are what was admitted and not given back, whatever came together', async () => {
    const requests = fc.array(request, { minLength: 20, maxLength: 120, size: 'max' })
    await fc.assert(
      fc.asyncProperty(requests, limits, async (requests, limits) => {
        await clock.advance(window_ms)
        const nodes = Array.from({ length: 4 }, () => nodeWith(limits))
        const counts = new Map<AdmissionRule, number>()
        const count = (rules: readonly AdmissionRule[], change: number) => {
          for (const rule of rules) counts.set(rule, (counts.get(rule) ?? 0) + change)
        }
        const most = new Map<AdmissionRule, number>()
        await Promise.all(
          requests.map(async ({ node, rules, isGivenBack, turns }) => {
            for (let turn = 0; turn < turns; turn += 1) await test.db.all(windows, {})
            const admitted = await nodes[node]?.take(plan(...rules)).catch(isRefused)
            if (admitted === undefined) return
            count(rules, 1)
            for (const rule of rules) {
              most.set(rule, Math.max(most.get(rule) ?? 0, counts.get(rule) ?? 0))
            }
            if (!isGivenBack) return
            // Counted before it is asked for: who hears of it first is not known.
            count(rules, -1)
            await admitted.giveBack()
          }),
        )
        for (const [rule, number] of most) expect(number).toBeLessThanOrEqual(limits[rule])
        const expected = [...counts.values()].filter((number) => number > 0).sort((a, b) => a - b)
        expect((await taken()).filter((number) => number !== 0)).toEqual(expected)
        // What is left is exactly what the limit has not seen yet.
        for (const rule of admissionRules) {
          const left = limits[rule] - (counts.get(rule) ?? 0)
          const more = Array.from({ length: left + 2 }, () =>
            nodeWith(limits).take(plan(rule)).catch(isRefused),
          )
          expect((await Promise.all(more)).filter((it) => it !== undefined)).toHaveLength(left)
        }
      }),
      { numRuns: 25 },
    )
  })

  it('[H-ADM-2] are apart wherever the values differ, however they read together', async () => {
    const node = nodeWith(each(1))
    const pairs = [
      ['198.51.100.1', '1x'],
      ['198.51.100.11', 'x'],
      ['198.51.100.1', '1', 'x'],
    ]
    for (const values of [...pairs, ['198.51.100.1'], ['198.51.100.11x']]) {
      const rules = [{ rule: 'console_login', values }] as const
      expect([values, await node.take(rules).catch(isRefused)]).toEqual([values, expect.anything()])
      expect(await node.take(rules).catch(isRefused)).toBeUndefined()
    }
  })

  it('[H-ADM-1] keep what was taken when a limit is lower than that', async () => {
    for (let made = 0; made < 5; made += 1) await nodeWith(each(5)).take(plan('source'))
    const stricter = nodeWith({ ...each(5), source: 2 })
    for (let made = 0; made < 3; made += 1) {
      expect(await stricter.take(plan('email', 'source')).catch(isRefused)).toBeUndefined()
    }
    expect(await taken()).toEqual([0, 5])
    expect(await nodeWith(each(6)).take(plan('email', 'source'))).toBeDefined()
    expect(await taken()).toEqual([1, 6])
  })

  it('[H-ADM-1] [H-ADM-7] are as before when a request breaks off before its commit', async () => {
    const node = nodeWith(each(1))
    await node.take(plan('source'))
    const { db } = test
    const failing: Database = {
      ...db,
      transaction: (body, options) =>
        db.transaction(async (tx) => {
          await body(tx)
          throw new Error('cut off before the commit')
        }, options),
    }
    const cutOff = nodeWith(each(1), failing)
    for (const rules of [plan('source'), plan('email'), plan('email', 'source')]) {
      await expect(cutOff.take(rules)).rejects.toThrow('cut off')
      expect(await taken()).toEqual([1])
    }
    expect(await node.take(plan('source')).catch(isRefused)).toBeUndefined()
    expect(await node.take(plan('email'))).toBeDefined()
  })

  it('[H-ADM-1] are not written to a file by those who are refused again and again', async () => {
    if (name !== 'sqlite') return
    const node = nodeWith(each(2))
    const attempts = [plan('source'), plan('email', 'source'), plan('email')]
    for (const rules of [...attempts, ...attempts]) await node.take(rules).catch(isRefused)
    const log = () => readFileSync(`${test.url.slice('sqlite:'.length)}-wal`).toString('latin1')
    // What was taken before may reach the log a moment later.
    await new Promise((resolve) => setTimeout(resolve, 200))
    const before = log()
    for (const rules of [...attempts, ...attempts, ...attempts]) {
      expect(await node.take(rules).catch(isRefused)).toBeUndefined()
    }
    expect(log() === before).toBe(true)
    expect(before.length).toBeGreaterThan(0)
  })
})
