import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { makeCertificate } from './connection/certificates.fixture.ts'
import { openRawConnection, speakRaw } from './connection/raw-connection.fixture.ts'
import { openSampleServer } from './server.fixture.ts'

const valid = { fromUnixMs: 1_600_000_000_000, untilUnixMs: 4_000_000_000_000 }
/** The head of a TLS record that announces more than will come. */
const clientHelloStart = Buffer.from('16030100c8', 'hex')
const get = 'GET /open HTTP/1.1\r\nHost: localhost\r\n\r\n'

async function open(options: Parameters<typeof openSampleServer>[0] = {}) {
  const tls = makeCertificate(valid)
  const server = await openSampleServer({ ...options, deps: { tls, ...options.deps } })
  onTestFinished(() => server.close())
  return { server, tls }
}

async function connectTls(
  port: number,
  ca: string,
  options: ConnectionOptions = {},
): Promise<TLSSocket> {
  const socket = connect({
    host: '127.0.0.1',
    port,
    ca,
    servername: 'localhost',
    checkServerIdentity: () => undefined,
    ...options,
  })
  onTestFinished(() => void socket.destroy())
  await new Promise<void>((resolve, reject) => {
    socket.once('secureConnect', resolve).once('error', reject)
  })
  return socket
}

describe('a TLS listener', () => {
  it('[O-TLS-1] [O-TLS-2] speaks HTTP over TLS 1.2 and 1.3, and asks for it next time', async () => {
    const { server, tls } = await open()
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const socket = await connectTls(server.port, tls.certificate, {
        minVersion: version,
        maxVersion: version,
      })
      expect(socket.getProtocol()).toBe(version)
      const connection = speakRaw(socket)
      connection.write(get)
      const answer = await connection.next()
      expect(answer.status).toBe(200)
      expect(answer.header('strict-transport-security')).toBe('max-age=31536000; includeSubDomains')
      connection.write('nonsense\r\n\r\n')
      const refusal = await connection.next()
      expect([refusal.status, refusal.header('connection')]).toEqual([400, 'close'])
      await connection.closed
    }
    const old = {
      minVersion: 'TLSv1.1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    } as const
    await expect(connectTls(server.port, tls.certificate, old)).rejects.toThrow()
  })

  it('[O-TLS-2] closes a plain request without a word of HTTP', async () => {
    const { server } = await open()
    const plain = await openRawConnection(server.port)
    plain.write(get)
    expect(await plain.closed).not.toContain('HTTP')
    expect(server.server.counters().http_requests_total).toBe(0)
  })

  it('[H-GEN-5] closes a connection that does not get through its handshake in time', async () => {
    const { server } = await open({ config: { headers_timeout_ms: 200 } })
    const silent = await openRawConnection(server.port)
    const slow = await openRawConnection(server.port)
    slow.write(clientHelloStart)
    await Promise.all([silent.closed, slow.closed])
  })

  it('[O-STP-2] closes without waiting for what says nothing, and cuts what says too little', async () => {
    const { server, tls } = await open({ config: { headers_timeout_ms: 60_000 } })
    const silent = await openRawConnection(server.port)
    const slow = await openRawConnection(server.port)
    slow.write(clientHelloStart)
    // The server has accepted both once it answers a third one.
    const later = speakRaw(await connectTls(server.port, tls.certificate))
    later.destroy()
    const closing = server.server.close(10_000)
    await silent.closed
    await server.clock.advance(10_000)
    await closing
    await slow.closed
  })

  it('[O-TLS-3] gives new connections the new certificate, and lets running ones go on', async () => {
    const { server, tls } = await open()
    const running = speakRaw(await connectTls(server.port, tls.certificate))
    const next = makeCertificate(valid)
    server.server.setCertificate(next)
    running.write(get)
    expect((await running.next()).status).toBe(200)
    const socket = await connectTls(server.port, next.certificate)
    const fresh = speakRaw(socket)
    fresh.write(get)
    expect((await fresh.next()).status).toBe(200)
    await expect(connectTls(server.port, tls.certificate)).rejects.toThrow()
  })

  it('does not count upgraded connections twice when they end', async () => {
    const accepted: { destroy(): void }[] = []
    const upgrade = {
      path: '/v1/realtime',
      accept: (_request: unknown, socket: { destroy(): void }) => void accepted.push(socket),
    }
    const { server, tls } = await open({ config: { max_connections: 2 }, deps: { upgrade } })
    for (let i = 0; i < 4; i += 1) {
      const connection = speakRaw(await connectTls(server.port, tls.certificate))
      connection.write(
        'GET /v1/realtime HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
      )
      await vi.waitFor(() => expect(accepted.length).toBe(i + 1))
      accepted[i]?.destroy()
      await connection.closed
    }
    const held = [1, 2].map(async () => {
      const connection = speakRaw(await connectTls(server.port, tls.certificate))
      connection.write(get)
      expect((await connection.next()).status).toBe(200)
    })
    await Promise.all(held)
    await expect(connectTls(server.port, tls.certificate)).rejects.toThrow()
  })
})
