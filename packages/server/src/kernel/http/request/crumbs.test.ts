import { expect, it, onTestFinished } from 'vitest'
import { openRawConnection, type RawAnswer } from '../connection/raw-connection.fixture.ts'
import { openSampleServer } from '../server.fixture.ts'

it('[H-GEN-10] closes behind a body in crumbs, of which nobody reads the rest', async () => {
  const server = await openSampleServer()
  onTestFinished(() => server.close())
  const connection = await openRawConnection(server.port)
  const head = ['POST /v1/auth/sample HTTP/1.1', 'Host: a', 'Content-Type: application/json']
  connection.write(`${[...head, 'Content-Length: 16000'].join('\r\n')}\r\n\r\n`)
  let answer: RawAnswer | undefined
  const answered = connection.next().then((found) => {
    answer = found
  })
  for (let sent = 0; sent < 15_000 && answer === undefined; sent += 1) {
    connection.write(' ')
    await new Promise((resolve) => setImmediate(resolve))
  }
  await answered
  expect([answer?.status, answer?.header('connection')]).toEqual([400, 'close'])
  await connection.closed
  connection.destroy()
})
