import { expect, it, onTestFinished } from 'vitest'
import { openSampleServer } from '../server.fixture.ts'
import { openRawConnection } from './raw-connection.fixture.ts'

const get = 'GET /open HTTP/1.1\r\nHost: a\r\n\r\n'

it('[H-GEN-5] a few of the requests that are sent ahead begin in each turn, in order', async () => {
  const server = await openSampleServer()
  onTestFinished(() => server.close())
  const connection = await openRawConnection(server.port)
  connection.write(get.repeat(59) + get.replace('/open', '/nope'))
  const answered = () => server.server.counters().http_requests_total
  const perTurn: number[] = []
  for (let before = 0; before < 60; ) {
    await new Promise((resolve) => setImmediate(resolve))
    perTurn.push(answered() - before)
    before = answered()
  }
  expect(Math.max(...perTurn)).toBeLessThan(35)
  const statuses: number[] = []
  while (statuses.length < 60) statuses.push((await connection.next()).status)
  expect(statuses).toEqual([...Array(59).fill(200), 404])
  connection.destroy()
})
