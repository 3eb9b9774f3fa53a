import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { openRawConnection, sendRaw } from './connection/raw-connection.fixture.ts'
import { unansweredMax } from './connection/socket-guard.ts'
import { openSampleServer } from './server.fixture.ts'
import type { HttpConfig } from './server.ts'

const patience = { interval: 50 }
const get = 'GET /open HTTP/1.1\r\nHost: a\r\n\r\n'

describe('slow readers', () => {
  const large = Buffer.alloc(64 * 1_048_576)
  const getLarge = 'GET /large HTTP/1.1\r\nHost: a\r\n\r\n'
  const serving: Socket[] = []
  async function openLarge(config: Partial<HttpConfig>) {
    const server = await openSampleServer({
      config,
      deps: {
        pages: [
          {
            method: 'GET',
            path: '/large',
            async serve(exchange) {
              serving.push(exchange.message.socket)
              exchange.reply(200, large, 'text/plain')
            },
          },
        ],
      },
    })
    onTestFinished(() => server.close())
    return server
  }
  /** A client that reads nothing by itself. */
  async function ask(port: number): Promise<Socket> {
    const socket = connect({ host: '127.0.0.1', port })
    onTestFinished(() => void socket.destroy())
    socket.on('error', () => {})
    await once(socket, 'connect')
    socket.pause().write(getLarge)
    return socket
  }

  it('[H-GEN-35] hold no connection for ever', async () => {
    const server = await openLarge({ max_connections: 4, write_timeout_ms: 1000 })
    for (let at = 0; at < 4; at += 1) await ask(server.port)
    await expect(sendRaw(server.port, get)).rejects.toThrow('closed')
    await vi.waitFor(
      async () => expect((await sendRaw(server.port, get)).status).toBe(200),
      patience,
    )
    expect(server.failures).toEqual([])
  })

  it('[H-GEN-35] are served as long as they take something, and so is a slow handler', async () => {
    const server = await openLarge({ write_timeout_ms: 3000 })
    const waiting = await openRawConnection(server.port)
    waiting.write('GET /held HTTP/1.1\r\nHost: a\r\n\r\n')
    await vi.waitFor(() => expect(server.held.reached()).toBe(1))
    const slow = await ask(server.port)
    const stuck = await ask(server.port)
    let bytes = 0
    const taking = setInterval(() => {
      bytes += slow.read(1_048_576)?.length ?? 0
    }, 50)
    onTestFinished(() => clearInterval(taking))
    await vi.waitFor(
      () => expect(server.server.counters().http_requests_in_flight).toBe(1),
      patience,
    )
    stuck.resume()
    await once(stuck, 'close')
    expect(stuck.bytesRead).toBeLessThan(large.length)
    expect(bytes).toBeGreaterThan(large.length - 1_048_576)
    server.held.release()
    expect((await waiting.next()).status).toBe(200)
    waiting.destroy()
  })

  it('[H-GEN-5] are read no further once too much was sent ahead', async () => {
    const server = await openLarge({})
    serving.length = 0
    const client = await ask(server.port)
    await vi.waitFor(() => expect(serving).toHaveLength(1))
    client.write(`GET /held HTTP/1.1\r\nHost: a\r\n\r\n${get.repeat(20_000)}`)
    const counters = () => server.server.counters()
    await vi.waitFor(() => expect(counters().http_requests_in_flight).toBe(unansweredMax))
    const bytes = serving[0]?.bytesRead
    client.resume()
    await vi.waitFor(() => expect(counters().http_requests_total).toBe(1), patience)
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(serving[0]?.bytesRead).toBe(bytes)
  })
})
