import { afterAll, expect, it } from 'vitest'
import { createWorkspace } from './load.fixture.ts'

const workspace = createWorkspace()
afterAll(() => workspace.remove())

/** Limit and window, in milliseconds, of each rule when nothing is configured. */
const defaults = {
  source: [30, 60_000],
  email: [10, 900_000],
  registration_source: [10, 3_600_000],
  console_login: [10, 300_000],
  console_login_source: [30, 300_000],
} as const

it('[H-ADM-5] limits have their defaults', async () => {
  const { limits } = (await workspace.load({})).config.authentication
  const found = Object.entries(limits).map(([name, { limit, window_ms }]) => {
    return [name, [limit, window_ms]]
  })
  expect(Object.fromEntries(found)).toEqual(defaults)
})

it.each(Object.keys(defaults))(
  '[H-ADM-5] the limit %s is configured within bounds',
  async (name) => {
    const key = `authentication.limits.${name}`
    const problemsOf = (file: string) => workspace.problems({ file })
    for (const line of ['limit = 0', 'limit = 1000001', 'window_ms = 0', 'window_ms = 86400001']) {
      const [problem, ...more] = await problemsOf(`${key}.${line}`)
      expect([problem, more]).toEqual([expect.stringContaining('is out of bounds'), []])
    }
    for (const [limit, window_ms] of [
      [1, 1],
      [1_000_000, 86_400_000],
    ]) {
      const file = `${key}.limit = ${limit}\n${key}.window_ms = ${window_ms}`
      const { config } = await workspace.load({ file })
      const { limits } = config.authentication
      expect(Object.entries(limits).find(([each]) => each === name)?.[1]).toEqual({
        limit,
        window_ms,
      })
    }
  },
)
