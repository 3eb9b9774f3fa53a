import type { IncomingMessage } from 'node:http'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { openRawConnection, sendRaw } from './connection/raw-connection.fixture.ts'
import { unansweredMax } from './connection/socket-guard.ts'
import { openSampleServer, tokens } from './server.fixture.ts'

async function open(options?: Parameters<typeof openSampleServer>[0]) {
  const server = await openSampleServer(options)
  onTestFinished(() => server.close())
  return server
}

const get = 'GET /open HTTP/1.1\r\nHost: a\r\n\r\n'
const json = 'Content-Type: application/json\r\n'

describe('reuse', () => {
  it('[H-GEN-1] goes on after every refusal that has read its request', async () => {
    const server = await open()
    const connection = await openRawConnection(server.port)
    const requests: [string, number][] = [
      ['GET /nope HTTP/1.1\r\nHost: a\r\n\r\n', 404],
      ['GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n', 400],
      ['DELETE /open HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc', 405],
      ['GET /v1/account HTTP/1.1\r\nHost: a\r\n\r\n', 401],
      ['POST /console/v1/items HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc', 401],
      [`POST /v1/auth/sample HTTP/1.1\r\nHost: a\r\n${json}Content-Length: 3\r\n\r\nabc`, 400],
      ['POST /v1/auth/sample HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc', 400],
      [get, 200],
    ]
    for (const [request, status] of requests) {
      connection.write(request)
      const answer = await connection.next()
      expect([answer.status, answer.header('connection')]).toEqual([status, 'keep-alive'])
    }
    connection.destroy()
  })

  it('[H-GEN-1] answers what is sent ahead in order, also behind one that takes longer', async () => {
    const server = await open()
    const connection = await openRawConnection(server.port)
    connection.write(
      `GET /held HTTP/1.1\r\nHost: a\r\n\r\n${get}GET /nope HTTP/1.1\r\nHost: a\r\n\r\n`,
    )
    await vi.waitFor(() => expect(server.held.reached()).toBe(1))
    server.held.release()
    const bodies = [await connection.next(), await connection.next(), await connection.next()]
    expect(bodies.map(({ status }) => status)).toEqual([200, 200, 404])
    expect(bodies[0]?.body).toBe('{"held":false}')
    connection.destroy()
  })

  it('[H-GEN-5] refuses in its turn who sends on and on and waits for no answer', async () => {
    const server = await open()
    const connection = await openRawConnection(server.port)
    const frames = Error.stackTraceLimit
    connection.write(`GET /held HTTP/1.1\r\nHost: a\r\n\r\n${get.repeat(2000)}`)
    await vi.waitFor(() => expect(server.held.reached()).toBe(1))
    expect(server.server.counters().http_requests_in_flight).toBe(unansweredMax)
    server.held.release()
    for (let sent = 0; sent < unansweredMax; sent += 1) {
      expect((await connection.next()).status).toBe(200)
    }
    expect((await connection.next()).status).toBe(400)
    expect(await connection.closed).toBe('')
    expect(server.server.counters().http_requests_total).toBe(unansweredMax + 1)
    expect(Error.stackTraceLimit).toBe(frames)
  })

  it('[H-GEN-5] refuses CONNECT behind a request only when that is answered', async () => {
    const server = await open()
    const connection = await openRawConnection(server.port)
    connection.write('GET /held HTTP/1.1\r\nHost: a\r\n\r\nCONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n')
    await vi.waitFor(() => expect(server.held.reached()).toBe(1))
    server.held.release()
    expect((await connection.next()).body).toBe('{"held":false}')
    expect((await connection.next()).status).toBe(400)
    expect(await connection.closed).toBe('')
  })

  it('[R-WS-1] upgrades no connection that owes an answer, and refuses it in its turn', async () => {
    const accepted: unknown[] = []
    const accept = (request: unknown) => void accepted.push(request)
    const server = await open({ deps: { upgrade: { path: '/v1/realtime', accept } } })
    const connection = await openRawConnection(server.port)
    const upgrade = 'Host: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
    connection.write(`GET /held HTTP/1.1\r\nHost: a\r\n\r\nGET /v1/realtime HTTP/1.1\r\n${upgrade}`)
    await vi.waitFor(() => expect(server.held.reached()).toBe(1))
    server.held.release()
    expect((await connection.next()).body).toBe('{"held":false}')
    // This server has no route there; the gateway's answers 400.
    expect((await connection.next()).status).toBe(404)
    expect(accepted).toEqual([])
    connection.write(`GET /v1/realtime HTTP/1.1\r\n${upgrade}`)
    await vi.waitFor(() => expect(accepted).toHaveLength(1))
    connection.destroy()
  })

  it('[H-GEN-5] speaks HTTP/1.0 without Host and closes, and no other version', async () => {
    const server = await open()
    const connection = await openRawConnection(server.port)
    connection.write('GET /open HTTP/1.0\r\n\r\n')
    expect((await connection.next()).status).toBe(200)
    await connection.closed
    for (const line of [
      'GET /open',
      'GET /open HTTP/2.0',
      'GET /open HTTP/1.2',
      'GET /open HTTP/11',
      'PRI * HTTP/2.0',
    ]) {
      const answer = await sendRaw(
        server.port,
        `${line}\r\n${line.endsWith('open') ? '\r\n' : 'Host: a\r\n\r\n'}`,
      )
      expect([line, answer.status, answer.header('connection')]).toEqual([line, 400, 'close'])
    }
  })

  it('[H-GEN-5] wants exactly one Host of HTTP/1.1', async () => {
    const server = await open()
    for (const hosts of ['', 'Host: a\r\nHost: a\r\n', 'Host: a\r\nhOST: b\r\n']) {
      const answer = await sendRaw(server.port, `GET /open HTTP/1.1\r\n${hosts}\r\n`)
      expect([answer.status, answer.header('connection')]).toEqual([400, 'close'])
    }
    expect((await sendRaw(server.port, 'GET /open HTTP/1.1\r\nHost:\r\n\r\n')).status).toBe(200)
  })

  it('[R-WS-1] upgrades every spelling of the path, and none of another', async () => {
    const accepted: (string | undefined)[] = []
    const accept = ({ url }: IncomingMessage) => void accepted.push(url)
    const server = await open({ deps: { upgrade: { path: '/v1/realtime', accept } } })
    const upgrade = 'Host: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
    const targets = ['/v1/realtime', '/v1/realtime?%zz', '/v1/%72ealtime', 'http://a/v1/realtime?b']
    for (const [index, target] of targets.entries()) {
      const connection = await openRawConnection(server.port)
      connection.write(`GET ${target} HTTP/1.1\r\n${upgrade}`)
      await vi.waitFor(() => expect(accepted).toEqual(targets.slice(0, index + 1)))
      connection.destroy()
    }
    for (const target of [
      '/v1/realtime?a#b',
      '/v1/realtime/',
      '/v1/realtime%2F',
      '/v1/realtime%zz',
    ]) {
      const answer = await sendRaw(server.port, `GET ${target} HTTP/1.1\r\n${upgrade}`)
      expect(answer.status).toBeGreaterThanOrEqual(400)
    }
    for (const method of ['POST', 'HEAD', 'PUT']) {
      const answer = await sendRaw(server.port, `${method} /v1/realtime HTTP/1.1\r\n${upgrade}`)
      expect([method, answer.status]).toEqual([method, 404])
    }
    expect(accepted).toEqual(targets)
  })

  it('[H-PUB-10] treats an upgrade like an ordinary request where nobody takes it over', async () => {
    const server = await open()
    const connection = await openRawConnection(server.port)
    for (const upgrade of ['websocket', 'h2c', 'TLS/1.0']) {
      const headers = `Host: a\r\nConnection: Upgrade\r\nUpgrade: ${upgrade}\r\n`
      connection.write(`GET /open HTTP/1.1\r\n${headers}\r\n`)
      expect((await connection.next()).status).toBe(200)
      const body = `${json}Content-Length: 12\r\n\r\n{"text":"a"}`
      connection.write(`POST /v1/auth/sample HTTP/1.1\r\n${headers}${body}`)
      expect((await connection.next()).body).toBe('{"bytes":1}')
    }
    connection.destroy()
  })
})

describe('header size', () => {
  /** Headers of exactly `bytes` bytes in `lines` lines, counted with separators and line ends. */
  function headers(bytes: number, lines = 1): string {
    const host = 'Host: a\r\n'
    const small = 'X: y\r\n'.repeat(lines - 1)
    const rest = bytes - host.length - small.length - 'X-Large: \r\n'.length
    return `${host}${small}X-Large: ${'x'.repeat(rest)}\r\n\r\n`
  }

  it.each([1, 100, 1900])(
    '[H-GEN-5] may be 16 KiB in %d lines and not a byte more',
    async (lines) => {
      const server = await open()
      const fits = await sendRaw(server.port, `GET /open HTTP/1.1\r\n${headers(16_384, lines)}`)
      expect(fits.status).toBe(200)
      const connection = await openRawConnection(server.port)
      connection.write(`GET /open HTTP/1.1\r\n${headers(16_385, lines)}`)
      const answer = await connection.next()
      expect([answer.status, JSON.parse(answer.body).code]).toEqual([400, 'invalid_request'])
      expect(answer.header('connection')).toBe('close')
      await connection.closed
    },
  )

  it.each([33_000, 200_000])(
    '[H-GEN-5] of %d bytes is refused without being kept',
    async (bytes) => {
      const server = await open()
      const connection = await openRawConnection(server.port)
      connection.write(`GET /open HTTP/1.1\r\n${headers(bytes)}`)
      const answer = await connection.next()
      expect([answer.status, JSON.parse(answer.body).code]).toEqual([400, 'invalid_request'])
      await connection.closed
    },
  )

  it('[H-GEN-5] leaves the longest target and the largest headers room beside each other', async () => {
    const server = await open()
    const target = `/open?${'x'.repeat(8192 - 6)}`
    const answer = await sendRaw(server.port, `GET ${target} HTTP/1.1\r\n${headers(16_384)}`)
    expect(answer.status).toBe(200)
  })
})

describe('time', () => {
  it('[H-GEN-5] closes a connection whose headers do not come', async () => {
    const server = await open({ config: { headers_timeout_ms: 500 } })
    const silent = await openRawConnection(server.port)
    const slow = await openRawConnection(server.port)
    slow.write('GET /open HTTP/1.1\r\nHost')
    expect(await slow.closed).toBe('')
    expect(await silent.closed).toBe('')
    expect(server.server.counters().http_requests_total).toBe(0)
  })

  it('[H-GEN-5] closes a connection whose body does not come', async () => {
    const server = await open({ config: { request_timeout_ms: 1000 } })
    const slow = await openRawConnection(server.port)
    slow.write(`POST /v1/auth/sample HTTP/1.1\r\nHost: a\r\n${json}Content-Length: 12\r\n\r\n{"te`)
    const ignored = await openRawConnection(server.port)
    ignored.write('GET /open HTTP/1.1\r\nHost: a\r\nContent-Length: 12\r\n\r\n{"te')
    expect(await slow.closed).toBe('')
    expect(await ignored.closed).toBe('')
    await vi.waitFor(() => expect(server.server.counters().http_requests_in_flight).toBe(0))
    expect(server.failures).toEqual([])
  })

  it('[O-KEY-1] says how long a connection may be idle, as it is configured', async () => {
    const server = await open({ config: { keep_alive_timeout_ms: 7000 } })
    const connection = await openRawConnection(server.port)
    connection.write(get)
    expect((await connection.next()).header('keep-alive')).toBe('timeout=7')
    connection.destroy()
  })

  it('[H-GEN-5] lets a handler take longer than a request may', async () => {
    const server = await open({ config: { headers_timeout_ms: 500, request_timeout_ms: 500 } })
    const held = await openRawConnection(server.port)
    held.write('GET /held HTTP/1.1\r\nHost: a\r\n\r\n')
    const silent = await openRawConnection(server.port)
    // It is closed when the time for a request has passed, which the held one thus survives.
    await silent.closed
    server.held.release()
    expect((await held.next()).status).toBe(200)
    held.destroy()
  })
})

describe('those who leave', () => {
  it('[H-PUB-7] are not in flight any more, before the handler ends and after', async () => {
    const server = await open()
    const connection = await openRawConnection(server.port)
    connection.write('GET /held HTTP/1.1\r\nHost: a\r\n\r\n')
    await vi.waitFor(() => expect(server.held.reached()).toBe(1))
    expect(server.server.counters().http_requests_in_flight).toBe(1)
    connection.destroy()
    await vi.waitFor(() => expect(server.server.counters().http_requests_in_flight).toBe(0))
    server.held.release()
    await sendRaw(server.port, get)
    await vi.waitFor(() => expect(server.server.counters().http_requests_in_flight).toBe(0))
    expect(server.server.counters().http_requests_total).toBe(1)
    expect(server.failures).toEqual([])
  })

  it('[H-PUB-7] in the middle of a body leave nothing behind', async () => {
    const server = await open()
    for (const framing of ['Content-Length: 100', 'Transfer-Encoding: chunked']) {
      const connection = await openRawConnection(server.port)
      connection.write(
        `POST /v1/auth/sample HTTP/1.1\r\nHost: a\r\n${json}${framing}\r\n\r\n5\r\n{"tex`,
      )
      await vi.waitFor(() => expect(server.server.counters().http_requests_in_flight).toBe(1))
      connection.destroy()
      await vi.waitFor(() => expect(server.server.counters().http_requests_in_flight).toBe(0))
    }
    expect(server.failures).toEqual([])
  })

  it('[H-PUB-7] by half still get their answer', async () => {
    const server = await open()
    const connection = await openRawConnection(server.port)
    connection.write(get)
    connection.end()
    expect((await connection.next()).status).toBe(200)
    await connection.closed
    const cut = await openRawConnection(server.port)
    cut.write(`POST /v1/auth/sample HTTP/1.1\r\nHost: a\r\n${json}Content-Length: 100\r\n\r\n{`)
    cut.end()
    expect((await cut.next()).status).toBe(400)
    await cut.closed
  })
})

describe('counters', () => {
  it('[H-PUB-7] count every answer, also those to bytes that are no request', async () => {
    const server = await open()
    const requests = [
      get,
      'GET /nope HTTP/1.1\r\nHost: a\r\n\r\n',
      'GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n',
      'DELETE /open HTTP/1.1\r\nHost: a\r\n\r\n',
      'GET /sample.json HTTP/1.1\r\nHost: a\r\n\r\n',
      'GET /v1/account HTTP/1.1\r\nHost: a\r\n\r\n',
      `GET /console/v1/failures/bug HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${tokens.admin}\r\n\r\n`,
      'GET /open HTTP/1.1\r\n\r\n',
      'nonsense\r\n\r\n',
    ]
    for (const request of requests) await sendRaw(server.port, request)
    const total = () => server.server.counters().http_requests_total
    await vi.waitFor(() => expect(total()).toBe(requests.length))
  })

  it('[H-PUB-7] see each request that waits', async () => {
    const server = await open()
    const five = Array.from({ length: 5 }, () => openRawConnection(server.port))
    const connections = await Promise.all(five)
    for (const connection of connections) connection.write('GET /held HTTP/1.1\r\nHost: a\r\n\r\n')
    await vi.waitFor(() => expect(server.held.reached()).toBe(5))
    expect(server.server.counters().http_requests_in_flight).toBe(5)
    await server.clock.advance(7)
    server.held.release()
    for (const connection of connections) await connection.next()
    await vi.waitFor(() => expect(server.server.counters().http_requests_in_flight).toBe(0))
    expect(server.server.counters().http_request_microseconds_total).toBe(35_000)
    for (const connection of connections) connection.destroy()
  })
})

describe('the limit of connections', () => {
  it('closes one more at accept, and has room again when one ends', async () => {
    const server = await open({ config: { max_connections: 3 } })
    const connections = await Promise.all([1, 2, 3].map(() => openRawConnection(server.port)))
    for (const connection of connections) {
      connection.write(get)
      expect((await connection.next()).status).toBe(200)
    }
    const extra = await openRawConnection(server.port)
    expect(await extra.closed).toBe('')
    connections[0]?.destroy()
    await vi.waitFor(async () => {
      expect((await sendRaw(server.port, get)).status).toBe(200)
    })
    for (const connection of connections) connection.destroy()
  })

  it('does not count upgraded ones, however they end', async () => {
    const accepted: { destroy(): void }[] = []
    const upgrade = {
      path: '/v1/realtime',
      accept: (_request: unknown, socket: { destroy(): void }) => void accepted.push(socket),
    }
    const server = await open({ config: { max_connections: 2 }, deps: { upgrade } })
    const ask =
      'GET /v1/realtime?x HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
    const upgraded = []
    for (let i = 0; i < 5; i += 1) {
      const connection = await openRawConnection(server.port)
      connection.write(ask)
      await vi.waitFor(() => expect(accepted.length).toBe(i + 1))
      upgraded.push(connection)
    }
    expect((await sendRaw(server.port, get)).status).toBe(200)
    for (const socket of accepted) socket.destroy()
    for (const connection of upgraded) await connection.closed
    const held = await Promise.all([1, 2].map(() => openRawConnection(server.port)))
    for (const connection of held) {
      connection.write(get)
      await connection.next()
    }
    expect(await (await openRawConnection(server.port)).closed).toBe('')
    for (const connection of held) connection.destroy()
  })
})
