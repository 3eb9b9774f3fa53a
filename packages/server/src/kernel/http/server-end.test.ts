import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { openRawConnection } from './connection/raw-connection.fixture.ts'
import { openSampleServer } from './server.fixture.ts'

const get = 'GET /open HTTP/1.1\r\nHost: a\r\n\r\n'

describe('the end', () => {
  it('[O-STP-2] lets a running request finish, asks it to close, and takes no new ones', async () => {
    const server = await openSampleServer()
    const idle = await openRawConnection(server.port)
    idle.write(get)
    await idle.next()
    const running = await openRawConnection(server.port)
    running.write('GET /held HTTP/1.1\r\nHost: a\r\n\r\n')
    await vi.waitFor(() => expect(server.held.reached()).toBe(1))
    const closing = server.server.close(60_000)
    expect(await idle.closed).toBe('')
    server.held.release()
    expect((await running.next()).body).toBe('{"held":false}')
    await running.closed
    await closing
    await expect(openRawConnection(server.port)).rejects.toThrow()
    expect(server.clock.timersWaiting()).toBe(0)
  })

  it.each([[''], [get]])(
    '[O-STP-2] waits for no connection whose answer was ready in its turn, nor for what follows: %j',
    async (next) => {
      const closing = Promise.withResolvers<void>()
      const server = await openSampleServer({
        deps: {
          pages: [
            {
              method: 'GET',
              path: '/last',
              async serve(exchange) {
                exchange.reply(200, 'bye', 'text/plain')
                closing.resolve(server.server.close(60_000))
              },
            },
          ],
        },
      })
      const asking = await openRawConnection(server.port)
      asking.write(`GET /last HTTP/1.1\r\nHost: a\r\n\r\n${next}`)
      expect((await asking.next()).body).toBe('bye')
      if (next !== '') expect((await asking.next()).header('connection')).toBe('close')
      await closing.promise
    },
  )

  it.each([true, false])(
    '[O-STP-2] lets an answer leave to its last byte: %j, that it was given before the end',
    async (isBefore) => {
      const body = Buffer.alloc(8 * 1_048_576)
      const closing = Promise.withResolvers<void>()
      const server = await openSampleServer({
        deps: {
          pages: [
            {
              method: 'GET',
              path: '/large',
              async serve(exchange) {
                const reply = () => exchange.reply(200, body, 'text/plain')
                const close = () => closing.resolve(server.server.close(60_000))
                const [first, then] = isBefore ? [reply, close] : [close, reply]
                first()
                setImmediate(then)
              },
            },
          ],
        },
      })
      const socket = connect({ host: '127.0.0.1', port: server.port })
      socket.pause().write('GET /large HTTP/1.1\r\nHost: a\r\n\r\n')
      await sleep(100)
      let received = 0
      socket.on('data', ({ length }) => {
        received += length
      })
      socket.resume()
      await Promise.all([once(socket, 'close'), closing.promise])
      expect(received).toBeGreaterThan(body.length)
    },
  )

  it('[O-STP-2] cuts what is left when the grace is over, or at once without one', async () => {
    for (const graceMs of [5000, 0]) {
      const server = await openSampleServer()
      const running = await openRawConnection(server.port)
      running.write('GET /held HTTP/1.1\r\nHost: a\r\n\r\n')
      await vi.waitFor(() => expect(server.held.reached()).toBe(1))
      const closing = server.server.close(graceMs)
      await server.clock.advance(graceMs)
      await closing
      expect(await running.closed).toBe('')
      server.held.release()
    }
  })
})
