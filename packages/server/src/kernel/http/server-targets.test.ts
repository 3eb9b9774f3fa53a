import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openRawConnection, type RawAnswer, sendRaw } from './connection/raw-connection.fixture.ts'
import { openSampleServer, type SampleServer, tokens } from './server.fixture.ts'

/** What stands on the first line of a request, and what becomes of it. */

let server: SampleServer

beforeAll(async () => {
  server = await openSampleServer()
})
afterAll(() => server.close())

function send(line: string, ...headers: string[]): Promise<RawAnswer> {
  const lines = [`${line} HTTP/1.1`, 'Host: test', ...headers, '', '']
  return sendRaw(server.port, Buffer.from(lines.join('\r\n'), 'latin1'))
}

const asAdmin = `Authorization: Bearer ${tokens.admin}`
const asPlayer = `Authorization: Bearer ${tokens.player}`

function expectError(answer: RawAnswer, status: number, code: string): void {
  expect(answer.status).toBe(status)
  expect(answer.header('content-type')).toBe('application/json')
  expect(JSON.parse(answer.body)).toEqual({ code, message: expect.any(String) })
}

describe('paths', () => {
  it.each([
    ['a%2Fb', 'a/b'],
    ['a%2fb', 'a/b'],
    ['%61', 'a'],
    ['%C3%A9', 'é'],
    ['%F0%9F%98%80', '😀'],
    ['%2525', '%25'],
    ['%25', '%'],
    ['a%3Fb%23c%26%3D%2B', 'a?b#c&=+'],
    ['a+b', 'a+b'],
    ['a;b=c', 'a;b=c'],
    ['@:!$&(),~', '@:!$&(),~'],
    ['..', '..'],
    ['%2e%2E', '..'],
    ['*', '*'],
    ['"<>|`{}^', '"<>|`{}^'],
    ['__proto__', '__proto__'],
  ])('[H-GEN-23] decodes the segment %s once, to %s', async (sent, understood) => {
    const answer = await send(`GET /console/v1/items/${sent}`, asAdmin)
    expect([answer.status, JSON.parse(answer.body)]).toEqual([200, { name: understood }])
  })

  it('[H-GEN-23] decodes any segment to what was encoded', async () => {
    const segment = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 60 })
      .filter((name) => name.isWellFormed() && !name.includes('\0'))
    await fc.assert(
      fc.asyncProperty(segment, async (name) => {
        const answer = await send(`GET /console/v1/items/${encodeURIComponent(name)}`, asAdmin)
        expect(JSON.parse(answer.body)).toEqual({ name })
      }),
      { numRuns: 60 },
    )
  })

  it('[H-GEN-23] passes a segment on that needs all bytes of a target, written as escapes', async () => {
    const at = '@'.repeat(8192 - '/console/v1/items/'.length)
    expect(JSON.parse((await send(`GET /console/v1/items/${at}`, asAdmin)).body).name).toBe(at)
  })

  it.each(['%', '%2', '%zz', '%ff', '%C3', '%C3%28', '%ED%A0%80', '%F8%88%80%80%80', 'a%c0%af'])(
    '[H-GEN-23] refuses the broken escape %s before routing, and needs no credential for it',
    async (segment) => {
      for (const path of [`/console/v1/items/${segment}`, `/unknown/${segment}`, `/${segment}/x`]) {
        expectError(await send(`GET ${path}`), 400, 'invalid_request')
      }
    },
  )

  it('[H-GEN-31] keeps the answer to a broken path under /console/ out of caches too', async () => {
    expect((await send('GET /console/%zz')).header('cache-control')).toBe('no-store')
  })

  it.each([
    '/console/v1/items/',
    '//console/v1/items',
    '/console//v1/items',
    '/console/v1//items',
    '/console/v1/items//a',
    '/console/v1/items/a/',
    '/v1/account/',
    '/open/',
    '//',
    '/',
    '/console',
    '/console/v1',
    '/console/v1/items/a/b',
    '/V1/account',
    '/open%2F',
    '/v1%2Faccount',
    '/console/v1/items%2Fa',
  ])(
    '[H-GEN-23] knows no path %s, not even for an admin, and sends nobody elsewhere',
    async (path) => {
      const answer = await send(`GET ${path}`, asAdmin)
      expectError(answer, 404, 'not_found')
      expect(answer.header('location')).toBeUndefined()
    },
  )

  it('[H-GEN-31] treats an escaped spelling of a private path like the path', async () => {
    const answer = await send('GET /v1/%61ccount', asPlayer)
    expect([answer.status, answer.header('cache-control')]).toEqual([200, 'no-store'])
    expect((await send('DELETE /v1/%61ccount')).header('allow')).toBe('GET, HEAD, PATCH')
  })

  it('[H-GEN-23] refuses U+0000 where a declared string is meant', async () => {
    expectError(await send('GET /console/v1/items/%00', asAdmin), 400, 'invalid_request')
  })
})

describe('targets that are no path', () => {
  it('[H-GEN-31] understands a whole address and applies the rules of its path', async () => {
    for (const origin of ['http://test', 'HTTPS://other:81', 'http://']) {
      const answer = await send(`GET ${origin}/v1/account`, asPlayer)
      expect([answer.status, answer.header('cache-control')]).toEqual([200, 'no-store'])
    }
    expectError(await send('GET http://test'), 404, 'not_found')
    expectError(await send('GET http://test?a=b'), 404, 'not_found')
  })

  it('[H-GEN-5] refuses a fragment', async () => {
    expectError(await send('GET /v1/account#x', asPlayer), 400, 'invalid_request')
    expectError(await send('GET /console/v1/items?filter=a#x', asAdmin), 400, 'invalid_request')
  })

  it('[H-GEN-28] knows no path for OPTIONS *', async () => {
    expectError(await send('OPTIONS *'), 404, 'not_found')
  })

  it.each([
    'GET open',
    'GET /o pen',
    'GET /open\t',
    'GET /o\x7fpen',
    'GET /\u00e9',
    'GET',
    'BREW /open',
    '',
  ])('[H-GEN-5] answers 400 to the line "%s" and closes', async (line) => {
    const connection = await openRawConnection(server.port)
    connection.write(Buffer.from(`${line} HTTP/1.1\r\nHost: test\r\n\r\n`, 'latin1'))
    const answer = await connection.next()
    expectError(answer, 400, 'invalid_request')
    expect(answer.header('connection')).toBe('close')
    expect(await connection.closed).toBe('')
  })

  it('[H-GEN-1] answers CONNECT like bytes that are no request', async () => {
    const answer = await send('CONNECT test:443')
    expectError(answer, 400, 'invalid_request')
    expect(answer.header('connection')).toBe('close')
  })

  it('[H-GEN-5] takes a target of 8 KiB and refuses one byte more', async () => {
    const path = '/console/v1/items?filter='
    const longest = path + 'x'.repeat(8192 - path.length)
    expect((await send(`GET ${longest}`, asAdmin)).status).toBe(200)
    const connection = await openRawConnection(server.port)
    connection.write(`GET ${longest}x HTTP/1.1\r\nHost: test\r\n${asAdmin}\r\n\r\n`)
    expectError(await connection.next(), 400, 'invalid_request')
    await connection.closed
    const segments = `/console/v1/items/${'y'.repeat(20_000)}`
    expectError(await send(`GET ${segments}`, asAdmin), 400, 'invalid_request')
  })
})

describe('methods', () => {
  it.each(['DELETE', 'PUT', 'POST', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY', 'MKCOL', 'SEARCH'])(
    '[H-GEN-27] [H-GEN-28] answers %s on a known path with 405 and needs no credential for it',
    async (method) => {
      const answer = await send(`${method} /v1/account`, 'Content-Length: 0')
      expectError(answer, 405, 'method_not_allowed')
      expect(answer.header('allow')).toBe('GET, HEAD, PATCH')
    },
  )

  it('[H-GEN-27] lists the methods of a path with parameters and of a document', async () => {
    expect((await send('DELETE /console/v1/items/a%2Fb')).header('allow')).toBe('GET, HEAD, PUT')
    expect((await send('POST /sample.json')).header('allow')).toBe('GET, HEAD')
    expect((await send('GET /v1/auth/sample')).header('allow')).toBe('POST')
    expect((await send('HEAD /v1/auth/sample')).status).toBe(405)
  })

  it('[H-GEN-28] says 404 or 405 whatever body comes with it', async () => {
    for (const type of ['text/plain', ';;;', 'application/json', 'multipart/form-data']) {
      for (const [path, status] of [
        ['/nope', 404],
        ['/open', 405],
      ] as const) {
        const body = ['Content-Length: 2', `Content-Type: ${type}`]
        const lines = [`POST ${path} HTTP/1.1`, 'Host: test', ...body, '', '{"']
        expect((await sendRaw(server.port, lines.join('\r\n'))).status).toBe(status)
      }
    }
    expect(server.failures).toEqual([])
  })

  it.each([
    ['/open', ''],
    ['/v1/account', asPlayer],
    ['/v1/account', 'X-None: 1'],
    ['/console/v1/items/a', asAdmin],
    ['/console/v1/items?nope', asAdmin],
    ['/nope', 'X-None: 1'],
    ['/console/%zz', 'X-None: 1'],
    ['/sample.json', 'X-None: 1'],
  ])('[H-GEN-27] answers HEAD %s like GET, without the body', async (path, header) => {
    const headers = ['X-Request-Id: same', ...(header === '' ? [] : [header])]
    const [get, head] = [
      await send(`GET ${path}`, ...headers),
      await send(`HEAD ${path}`, ...headers),
    ]
    const seen = ({ status, headerLines }: RawAnswer) => [
      status,
      headerLines.filter(([name]) => name !== 'date'),
    ]
    expect(seen(head)).toEqual(seen(get))
    expect(head.body).toBe('')
    expect(Number(get.header('content-length'))).toBe(Buffer.byteLength(get.body))
  })

  it('[H-GEN-27] sends nothing behind the headers of HEAD: the next answer follows at once', async () => {
    const connection = await openRawConnection(server.port)
    connection.write('HEAD /open HTTP/1.1\r\nHost: a\r\n\r\nGET /open HTTP/1.1\r\nHost: a\r\n\r\n')
    expect((await connection.next({ head: true })).body).toBe('')
    expect((await connection.next()).body).toBe('{"open":true}')
    connection.destroy()
  })
})

describe('queries', () => {
  it.each(['', '?', '?nope=1', '?a=1&a=2', '?%zz', '?=&&='])(
    '[H-GEN-25] ignores the query "%s" where none is declared',
    async (query) => {
      expect((await send(`GET /open${query}`)).status).toBe(200)
    },
  )

  it.each([
    '?nope=1',
    '?filter=a&filter=b',
    '?filter=a&nope',
    '?filter=%zz',
    '?filter=%ff',
    '?=1',
    '?__proto__=1',
    '?order=down',
    '?Filter=a',
  ])('[H-GEN-25] refuses the query %s where parameters are declared', async (query) => {
    expectError(await send(`GET /console/v1/items${query}`, asAdmin), 400, 'invalid_request')
  })

  it.each([
    ['?filter=', ''],
    ['?filter', ''],
    ['?filter=a%26b%3Dc', 'a&b=c'],
    ['?filter=a=b?c', 'a=b?c'],
    ['?filter=a+b%2B', 'a b+'],
    ['?f%69lter=x&', 'x'],
  ])('[H-GEN-25] reads the query %s', async (query, filter) => {
    const answer = await send(`GET /console/v1/items${query}`, asAdmin)
    expect(JSON.parse(answer.body)).toEqual({ filter })
  })
})

it('[H-GEN-1] has an answer of the one form for any target whatever', async () => {
  const target = fc.oneof(
    fc.string({ unit: fc.constantFrom(...'/%?#&=:*@.a2Fzc3'), minLength: 1, maxLength: 30 }),
    fc.webPath(),
    fc.webUrl(),
  )
  await fc.assert(
    fc.asyncProperty(target, async (line) => {
      const answer = await send(`GET ${line.startsWith('h') ? line : `/${line}`}`, asAdmin)
      expect([200, 400, 404]).toContain(answer.status)
      expect(answer.header('content-type')).toBe('application/json')
      expect(answer.header('x-request-id')).toMatch(/^[0-9a-f]{32}$/)
      if (answer.status !== 200)
        expect(Object.keys(JSON.parse(answer.body))).toEqual(['code', 'message'])
    }),
    { numRuns: 200 },
  )
  expect(server.failures).toEqual([])
})
