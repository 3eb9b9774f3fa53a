import { randomBytes } from 'node:crypto'
import { expect, it, onTestFinished } from 'vitest'
import { openDatabase } from '../../database/open.ts'
import { testBackends } from '../../database/testing/backends.ts'
import { silentLog } from '../../database/testing/silent-log.ts'
import { startProxy } from '../../database/testing/tcp-proxy.ts'
import { createSystemClock } from '../../kernel/clock.ts'
import { openTestApi } from '../../testing/api.ts'
import { openOperator } from '../../testing/operator.ts'

const [postgres] = testBackends.filter(({ name }) => name === 'postgres')

/** A database that says nothing any more, behind a node that is about to find out. */
async function openSilent() {
  const test = await postgres?.open()
  if (test === undefined) throw new Error('there is no PostgreSQL')
  onTestFinished(() => test.dispose())
  const url = new URL(test.url)
  const proxy = await startProxy(Number(url.port))
  onTestFinished(() => proxy.close())
  url.port = String(proxy.port)
  const db = await openDatabase({
    url: url.href,
    config: { max_connections: 8 },
    clock: createSystemClock(),
    log: silentLog,
    randomness: randomBytes,
  })
  onTestFinished(() => db.close())
  // Under a clock that stands still: whoever waited for a time would wait for ever.
  const api = await openTestApi({ db })
  onTestFinished(() => api.close())
  const operator = await openOperator(api)
  expect((await operator.send('GET', '/database')).status).toBe(200)
  return { db, operator, proxy }
}

const paths = ['/database', '/audit', '/accounts', '/groups', '/storage', '/leaderboards', '/chat']

it('[O-FLT-1] refuses at once what needs a database that is down', async () => {
  const { db, operator, proxy } = await openSilent()
  proxy.freeze()
  await db.probe()
  await db.probe()
  expect(db.state()).toBe('down')
  for (const path of paths)
    expect([path, (await operator.send('GET', path)).status]).toEqual([path, 500])
})

it('[O-FLT-1] refuses what waits when the database is found to be down', async () => {
  const { db, operator, proxy } = await openSilent()
  proxy.freeze()
  const waiting = paths
    .filter((path) => path !== '/audit')
    .map((path) => operator.send('GET', path))
  await db.probe()
  await db.probe()
  const answers = await Promise.all(waiting)
  expect(answers.map(({ status }) => status)).toEqual(waiting.map(() => 500))
})
