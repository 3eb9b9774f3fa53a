import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { createSystemClock } from '../../kernel/clock.ts'
import { ScriptFailure } from '../../kernel/play/script.ts'
import { scriptCalls } from '../../testing/script-calls.fixture.ts'
import { mayCall, type ResolvedAddress } from './outbound-http.addresses.ts'
import { outboundHttpFunctions } from './outbound-http.script.ts'
import { createOutboundHttp, type OutboundHttpConfig } from './outbound-http.service.ts'

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

const open: OutboundHttpConfig = {
  enabled: true,
  allowed_hosts: [],
  allowed_ports: [80, 443],
  allow_private_networks: false,
  max_concurrent_requests: 16,
  max_requests_per_minute: 120,
}

const loopback: ResolvedAddress = { address: '127.0.0.1', family: 4 }

/** A service whose every name is resolved to these addresses. */
function outbound(
  config: Partial<OutboundHttpConfig> = {},
  addresses: readonly ResolvedAddress[] = [loopback],
) {
  const asked: string[] = []
  const service = createOutboundHttp({
    config: { ...open, ...config },
    clock: createSystemClock(),
    async resolve(host) {
      asked.push(host)
      return addresses
    },
  })
  return { ...service, asked }
}

/** A server on loopback, and a service that may call it. */
async function serve(listener: RequestListener, config: Partial<OutboundHttpConfig> = {}) {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(() => server.close().closeAllConnections())
  const { port } = server.address() as AddressInfo
  const service = outbound({ allow_private_networks: true, allowed_ports: [port], ...config })
  return { ...service, url: `http://hooks.example:${port}/path?a=1` }
}

async function reasonOf(call: Promise<unknown>): Promise<string> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  return error instanceof ScriptFailure ? String(error.reason) : `not refused: ${String(error)}`
}

describe('a request', () => {
  it('[S-HTTP-1, S-HTTP-3] reaches the resolved address under its name', async () => {
    const service = await serve((request, response) => {
      let body = ''
      request.on('data', (chunk) => {
        body += chunk
      })
      request.on('end', () => {
        const { host, 'x-kind': kind } = request.headers
        response.setHeader('X-Seen', ['one', 'two'])
        response.statusCode = 418
        response.end(`${request.method} ${request.url} ${host?.split(':')[0]} ${kind} ${body}`)
      })
    })
    const answer = await service.fetch({
      url: service.url,
      method: 'POST',
      headers: { 'X-Kind': 'test' },
      body: 'gold: ä',
    })
    expect(answer.status).toBe(418)
    expect(answer.headers['x-seen']).toBe('one, two')
    expect(Buffer.from(answer.body).toString()).toBe('POST /path?a=1 hooks.example test gold: ä')
    expect(service.asked).toEqual(['hooks.example'])
    expect(service.requestsTotal()).toBe(1)
  })

  it('[S-HTTP-1] follows no redirect', async () => {
    const service = await serve((_request, response) => {
      response.writeHead(302, { location: 'http://169.254.169.254/' }).end()
    })
    expect((await service.fetch({ url: service.url })).status).toBe(302)
  })

  it('[S-API-33] decodes gzip, and bounds what comes out', async () => {
    const service = await serve((request, response) => {
      const size = Number(request.headers['x-size'])
      response.setHeader('content-encoding', 'gzip')
      response.end(gzipSync(Buffer.alloc(size, 'a')))
    })
    const sized = (size: number) =>
      service.fetch({ url: service.url, headers: { 'x-size': String(size) } })
    expect((await sized(1_048_576)).body).toHaveLength(1_048_576)
    expect(await reasonOf(sized(1_048_577))).toBe('response_too_large')
    expect(await reasonOf(sized(30_000_000))).toBe('response_too_large')
  })

  it.each([
    ['HEAD', 200],
    ['GET', 200],
    ['GET', 204],
    ['GET', 304],
    ['GET', 205],
  ])(
    '[S-HTTP-5] [S-API-33] takes an empty answer for what it is: %s, %i',
    async (method, status) => {
      const service = await serve((_request, response) => {
        response.writeHead(status, { 'content-encoding': 'gzip' }).end()
      })
      const answer = await service.fetch({ url: service.url, method })
      expect([answer.status, answer.body.length]).toEqual([status, 0])
    },
  )

  it('[S-HTTP-5] fails when a compressed body ends before it began', async () => {
    const service = await serve((request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': '20' })
      response.flushHeaders()
      response.write('', () => request.socket.destroy())
    })
    expect(await reasonOf(service.fetch({ url: service.url }))).toBe('request_failed')
  })

  it.each([Buffer.from('not gzip'), Buffer.from([0x1f]), gzipSync('abc').subarray(0, 12)])(
    '[S-HTTP-5] fails when the compressed body is broken: %j',
    async (body) => {
      const service = await serve((_request, response) => {
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(body)
      })
      expect(await reasonOf(service.fetch({ url: service.url }))).toBe('request_failed')
    },
  )

  it('[S-HTTP-1] takes at most 1 MiB of response and sends at most 64 KiB', async () => {
    const service = await serve((request, response) => {
      request.resume()
      response.end(Buffer.alloc(Number(request.headers['x-size'] ?? 0)))
    })
    const sized = (size: number) =>
      service.fetch({ url: service.url, headers: { 'x-size': String(size) } })
    expect((await sized(1_048_576)).body).toHaveLength(1_048_576)
    expect(await reasonOf(sized(1_048_577))).toBe('response_too_large')
    const put = (bytes: number) =>
      service.fetch({ url: service.url, method: 'PUT', body: new Uint8Array(bytes) })
    expect((await put(65_536)).status).toBe(200)
    expect(await reasonOf(put(65_537))).toBe('request_too_large')
  })

  it('[S-HTTP-1, S-API-33] takes at most 64 headers and 16 KiB of them', async () => {
    const service = await serve((request, response) => {
      const count = Number(request.headers['x-count'] ?? 0)
      for (let n = 0; n < count; n += 1) response.setHeader(`x-${n}`, 'a')
      const size = Number(request.headers['x-size'] ?? 0)
      if (size > 0) response.setHeader('x-large', 'a'.repeat(size))
      response.end()
    })
    const asking = (headers: Record<string, string>) => service.fetch({ url: service.url, headers })
    expect((await asking({ 'x-count': '60' })).status).toBe(200)
    expect(await reasonOf(asking({ 'x-count': '65' }))).toBe('headers_too_large')
    expect(await reasonOf(asking({ 'x-size': '17000' }))).toBe('headers_too_large')
    const many = Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`h${n}`, 'a']))
    expect(await reasonOf(asking(many))).toBe('headers_too_large')
    expect(await reasonOf(asking({ large: 'a'.repeat(16_384) }))).toBe('headers_too_large')
  })

  it('[S-HTTP-1] ends after its time, also in the middle of the body', async () => {
    const service = await serve((_request, response) => {
      response.write('begin')
    })
    const startMs = performance.now()
    expect(await reasonOf(service.fetch({ url: service.url, timeout_ms: 50 }))).toBe('timeout')
    expect(performance.now() - startMs).toBeGreaterThanOrEqual(45)
  })

  it('[S-HTTP-5] fails when the server breaks off', async () => {
    const service = await serve((request) => {
      request.socket.destroy()
    })
    expect(await reasonOf(service.fetch({ url: service.url }))).toBe('request_failed')
  })
})

describe('a refused request', () => {
  it.each([
    ['not a url', 'invalid_url'],
    ['ftp://example.com/', 'invalid_scheme'],
    ['file:///etc/passwd', 'invalid_scheme'],
    ['http://user@example.com/', 'url_credentials_forbidden'],
    ['http://:secret@example.com/', 'url_credentials_forbidden'],
    ['http://127.0.0.1/', 'ip_literal_forbidden'],
    ['http://2130706433/', 'ip_literal_forbidden'],
    ['http://0x7f.1/', 'ip_literal_forbidden'],
    ['http://[::1]/', 'ip_literal_forbidden'],
    ['http://[::ffff:10.0.0.1]/', 'ip_literal_forbidden'],
    ['http://127.0.0.1./', 'ip_literal_forbidden'],
    ['http://example.com:81/', 'port_forbidden'],
    ['http://exa$mple.com/', 'invalid_url'],
  ])('[S-HTTP-2] to %s: %s', async (url, reason) => {
    const service = outbound()
    expect(await reasonOf(service.fetch({ url }))).toBe(reason)
    expect(service.asked).toEqual([])
  })

  it('[S-HTTP-2] to a host that is not listed', async () => {
    const service = outbound({ allowed_hosts: ['api.example.com'] })
    const to = (host: string) => reasonOf(service.fetch({ url: `http://${host}/` }))
    expect(await to('example.com')).toBe('host_forbidden')
    expect(await to('evil.api.example.com')).toBe('host_forbidden')
    // The listed one goes on to its address, which is private here.
    expect(await to('API.example.com.')).toBe('private_address_forbidden')
  })

  it.each([
    ['host', 'a'],
    ['Content-Length', '1'],
    ['transfer-encoding', 'chunked'],
    ['connection', 'close'],
    ['Upgrade', 'h2c'],
    ['te', 'trailers'],
    ['trailer', 'a'],
    ['Proxy-Authorization', 'a'],
    ['a b', 'a'],
    ['', 'a'],
    ['a', 'x\r\ny: z'],
    ['a', '\u0000'],
    ['a', '€'],
  ])('[S-HTTP-4] with the header %j: %j', async (name, value) => {
    const headers = { [name]: value }
    const call = outbound().fetch({ url: 'http://example.com/', headers })
    expect(await reasonOf(call)).toBe('invalid_header')
  })

  it('[S-HTTP-1] with another method', async () => {
    for (const method of ['CONNECT', 'OPTIONS', 'get', '']) {
      const call = outbound().fetch({ url: 'http://example.com/', method })
      expect(await reasonOf(call)).toBe('invalid_method')
    }
  })

  it('[S-HTTP-5] when the capability is off', async () => {
    const call = outbound({ enabled: false }).fetch({ url: 'http://example.com/' })
    expect(await reasonOf(call)).toBe('capability_disabled')
  })

  it('[S-HTTP-3] when the name has no address, or one that is private', async () => {
    const to = (addresses: ResolvedAddress[]) =>
      reasonOf(outbound({}, addresses).fetch({ url: 'http://example.com/' }))
    expect(await to([])).toBe('resolution_failed')
    expect(await to([{ address: '93.184.216.34', family: 4 }, loopback])).toBe(
      'private_address_forbidden',
    )
  })

  it('[S-HTTP-5] beyond the limits', async () => {
    const service = await serve(() => {}, { max_concurrent_requests: 2 })
    const first = reasonOf(service.fetch({ url: service.url, timeout_ms: 200 }))
    const second = reasonOf(service.fetch({ url: service.url, timeout_ms: 200 }))
    expect(await reasonOf(service.fetch({ url: service.url }))).toBe('concurrent_limit_reached')
    expect([await first, await second]).toEqual(['timeout', 'timeout'])

    const rated = await serve((_request, response) => response.end(), {
      max_requests_per_minute: 2,
    })
    await rated.fetch({ url: rated.url })
    await rated.fetch({ url: rated.url })
    expect(await reasonOf(rated.fetch({ url: rated.url }))).toBe('rate_limit_reached')
  })
})

describe('http.fetch', () => {
  const call = scriptCalls(outboundHttpFunctions(outbound()))

  it('[S-HTTP-5] raises http_error with its reason', async () => {
    const refused = call('http.fetch', { url: 'http://127.0.0.1/' })
    await expect(refused).rejects.toMatchObject({
      code: 'http_error',
      reason: 'ip_literal_forbidden',
    })
  })

  it.each([
    [undefined],
    ['http://example.com/'],
    [{}],
    [{ url: 7 }],
    [{ url: 'http://example.com/', redirect: 'follow' }],
    [{ url: 'http://example.com/', headers: { a: 1 } }],
    [{ url: 'http://example.com/', body: { a: 1 } }],
    [{ url: 'http://example.com/', timeout_ms: 0 }],
    [{ url: 'http://example.com/', timeout_ms: '5' }],
  ])('[S-API-33] refuses the arguments %j', async (request) => {
    await expect(call('http.fetch', request)).rejects.toMatchObject({ code: 'invalid_request' })
  })
})

describe('an address', () => {
  const judge = (address: string, allowPrivate = false) =>
    mayCall({ address, family: address.includes(':') ? 6 : 4 }, allowPrivate)

  it.each([
    '93.184.216.34',
    '1.1.1.1',
    '2606:4700::1111',
    '::ffff:93.184.216.34',
    '64:ff9b::101:101',
  ])('[S-HTTP-3] %s is public', (address) => expect(judge(address)).toBe(true))

  it.each([
    '10.0.0.1',
    '127.0.0.1',
    '169.254.1.1',
    '172.31.255.255',
    '192.168.0.1',
    '::1',
    'fc00::1',
    'fe80::1',
    '::ffff:10.0.0.1',
    '::ffff:a00:1',
    '64:ff9b::a00:1',
  ])('[S-HTTP-3] %s is private', (address) => {
    expect(judge(address)).toBe(false)
    expect(judge(address, true)).toBe(true)
  })

  it.each([
    '0.0.0.0',
    '100.64.0.1',
    '192.0.0.1',
    '192.0.2.1',
    '192.88.99.1',
    '198.19.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1.2.3.4',
    'fec0::1',
    'ff02::1',
    '100::1',
    '2001::1',
    '2001:db8::1',
    '2002:a00:1::',
    '169.254.169.254',
    '::ffff:169.254.169.254',
    'fd00:ec2::254',
    'not an address',
  ])('[S-HTTP-3] %s is never called', (address) => {
    expect(judge(address)).toBe(false)
    expect(judge(address, true)).toBe(false)
  })
})
