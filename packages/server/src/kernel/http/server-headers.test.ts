import { describe, expect, it, onTestFinished } from 'vitest'
import { type RawAnswer, sendRaw } from './connection/raw-connection.fixture.ts'
import { openSampleServer, tokens } from './server.fixture.ts'

/** What stands in the headers of answers, and what must not. */

async function open(options?: Parameters<typeof openSampleServer>[0]) {
  const server = await openSampleServer(options)
  onTestFinished(() => server.close())
  return (line: string, ...headers: string[]): Promise<RawAnswer> => {
    const text = [`${line} HTTP/1.1`, 'Host: a', ...headers, '', ''].join('\r\n')
    return sendRaw(server.port, text)
  }
}

const asPlayer = `Authorization: Bearer ${tokens.player}`
const asAdmin = `Authorization: Bearer ${tokens.admin}`

/** One request per kind of answer: its status, its first line and a header. */
const kinds: readonly [status: number, line: string, header: string][] = [
  [200, 'GET /open', 'X: y'],
  [200, 'GET /v1/account', asPlayer],
  [200, 'GET /sample.json', 'X: y'],
  [204, 'POST /v1/session/sample', 'X: y'],
  [400, 'GET /console/v1/items?nope', asAdmin],
  [400, 'GET /%zz', 'X: y'],
  [400, 'BREW /open', 'X: y'],
  [400, 'CONNECT a:1', 'X: y'],
  [400, 'GET /open', 'Host: b'],
  [401, 'GET /v1/account', 'X: y'],
  [403, 'POST /console/v1/items', `Authorization: Bearer ${tokens.viewer}`],
  [404, 'GET /nope', 'X: y'],
  [405, 'DELETE /open', 'X: y'],
  [429, 'GET /console/v1/failures/limited', asAdmin],
  [500, 'GET /console/v1/failures/bug', asAdmin],
]

describe('every answer', () => {
  it.each(kinds)(
    '[H-GEN-29] [H-GEN-32] with %d to "%s" has what is safe and nothing that reveals',
    async (status, line, header) => {
      const send = await open()
      const answer = await send(line, header)
      expect(answer.status).toBe(status)
      expect(answer.header('content-security-policy')).toBe(
        "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      )
      expect(answer.header('x-content-type-options')).toBe('nosniff')
      expect(answer.header('x-frame-options')).toBe('DENY')
      expect(answer.header('referrer-policy')).toBe('no-referrer')
      expect(answer.header('x-request-id')).toMatch(/^[0-9a-f]{32}$/)
      expect(answer.header('strict-transport-security')).toBeUndefined()
      expect(answer.header('retry-after') !== undefined).toBe(status === 429)
      const names = answer.headerLines.map(([name]) => name)
      expect(new Set(names).size).toBe(names.length)
      const forbidden = /^(server|x-powered-by|set-cookie|www-authenticate|access-control-.*|vary)$/
      expect(names.filter((name) => forbidden.test(name))).toEqual([])
    },
  )

  it.each(kinds)(
    '[H-GEN-29] with %d to "%s" asks for TLS when a proxy ends it',
    async (_status, line, header) => {
      const send = await open({ config: { behind_tls_proxy: true } })
      expect((await send(line, header)).header('strict-transport-security')).toBe(
        'max-age=31536000; includeSubDomains',
      )
    },
  )
})

describe('X-Request-Id', () => {
  it.each(['a', 'A-Z_0.9', 'x'.repeat(64)])(
    '[H-GEN-30] is the one of the request: %s',
    async (id) => {
      const send = await open()
      expect((await send('GET /open', `X-Request-Id: ${id}`)).header('x-request-id')).toBe(id)
      expect((await send('GET /nope', `X-Request-Id: ${id}`)).header('x-request-id')).toBe(id)
      expect((await send('GET /%zz', `X-Request-Id: ${id}`)).header('x-request-id')).toBe(id)
    },
  )

  it.each(['', 'a b', 'a/b', 'é', '{}', 'x'.repeat(65)])(
    '[H-GEN-30] is made by the server in place of "%s"',
    async (id) => {
      const send = await open()
      const made = (await send('GET /open', `X-Request-Id: ${id}`)).header('x-request-id')
      expect(made).toMatch(/^[0-9a-f]{32}$/)
    },
  )

  it('[H-GEN-30] is made by the server when it is sent twice', async () => {
    const send = await open()
    const answer = await send('GET /open', 'X-Request-Id: a', 'X-Request-Id: a')
    expect(answer.header('x-request-id')).toMatch(/^[0-9a-f]{32}$/)
  })
})

describe('Cache-Control', () => {
  it.each([
    ['GET /console/v1/items', 'no-store'],
    ['GET /console/nope', 'no-store'],
    ['DELETE /console/v1/items', 'no-store'],
    ['GET /console/v1/items/', 'no-store'],
    ['GET /console/%zz?x', 'no-store'],
    ['GET http://a/console/nope', 'no-store'],
    ['POST /v1/auth/sample', 'no-store'],
    ['GET /v1/auth/nope', 'no-store'],
    ['POST /v1/session/sample', 'no-store'],
    ['GET /v1/account', 'no-store'],
    ['GET /v1/account?x', 'no-store'],
    ['GET /v1/account/nope', 'no-store'],
    ['GET /status', 'no-store'],
    ['GET /v1/users', undefined],
    ['GET /v1/users/nope', undefined],
    ['GET /open', undefined],
    ['GET /v1/accounts', undefined],
    ['GET /sample.json', 'no-cache'],
  ])('[H-GEN-31] [H-PUB-1] on %s is %s', async (line, value) => {
    const send = await open()
    expect((await send(line)).header('cache-control')).toBe(value)
  })
})

describe('documents', () => {
  it('[H-PUB-8] have an ETag, and 304 for the one who has it', async () => {
    const send = await open()
    const first = await send('GET /sample.json')
    const etag = first.header('etag') ?? ''
    expect([first.status, first.body, first.header('content-type')]).toEqual([
      200,
      '{"sample":true}',
      'application/json',
    ])
    expect(etag).toMatch(/^"[0-9a-f]{16}"$/)
    for (const sent of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await send('GET /sample.json', `If-None-Match: ${sent}`)
      expect([again.status, again.body, again.header('etag')]).toEqual([304, '', etag])
      expect(again.header('cache-control')).toBe('no-cache')
    }
    expect((await send('GET /sample.json', 'If-None-Match: "other"')).status).toBe(200)
    expect((await send('HEAD /sample.json', `If-None-Match: ${etag}`)).status).toBe(304)
  })
})

describe('pages', () => {
  const accept = (encodings: string) => `Accept-Encoding: ${encodings}`

  it('[H-GEN-29] have one policy, which is their own', async () => {
    const send = await open()
    for (const line of ['GET /page', 'HEAD /page', 'GET /page/a/b%2Fc']) {
      const answer = await send(line)
      const policies = answer.headerLines.filter(([name]) => name === 'content-security-policy')
      expect(policies).toEqual([['content-security-policy', "default-src 'self'"]])
    }
  })

  it.each([
    [accept('br, gzip'), 'br'],
    [accept('gzip;q=1.0, BR;q=0.5'), 'br'],
    [accept('gzip, deflate'), 'gzip'],
    [accept('br;q=0, gzip'), 'gzip'],
    [accept('br;q=0.0'), undefined],
    [accept('zstd'), undefined],
    ['X: y', undefined],
  ])('[H-PUB-9] are compressed for %s as %s', async (header, encoding) => {
    const send = await open()
    const answer = await send('GET /page', header)
    expect(answer.header('content-encoding')).toBe(encoding)
    expect(answer.header('vary')).toBe('Accept-Encoding')
    expect(answer.header('cache-control')).toBe('no-cache')
    const again = await send('GET /page/deep', header, `If-None-Match: ${answer.header('etag')}`)
    expect([again.status, again.body]).toEqual([304, ''])
    expect(again.header('vary')).toBe('Accept-Encoding')
  })

  it('[H-PUB-9] have an ETag for each encoding', async () => {
    const send = await open()
    const encodings = ['br', 'gzip', 'identity']
    const answers = await Promise.all(encodings.map((name) => send('GET /page', accept(name))))
    expect(new Set(answers.map((answer) => answer.header('etag'))).size).toBe(3)
    const [asBrotli] = answers
    const other = `If-None-Match: ${asBrotli?.header('etag')}`
    expect((await send('GET /page', accept('gzip'), other)).status).toBe(200)
  })

  it('[H-PUB-9] [H-GEN-23] have no address that ends in a slash', async () => {
    const send = await open()
    expect((await send('GET /page/')).status).toBe(404)
    expect((await send('GET /page/a/')).status).toBe(404)
    expect((await send('POST /page/a')).status).toBe(405)
  })
})

describe('CORS', () => {
  const config = { cors_origins: ['https://a.example', 'http://localhost:5173'] }
  const origin = 'Origin: https://a.example'

  it('[H-GEN-34] is for listed origins on player paths, errors included', async () => {
    const send = await open({ config })
    for (const [line, status] of [
      ['GET /v1/account', 401],
      ['GET /v1/nope', 404],
      ['DELETE /v1/account', 405],
      ['POST /v1/session/sample', 204],
      ['OPTIONS /v1/account', 405],
      ['GET /status', 200],
      ['POST /status', 405],
    ] as const) {
      const answer = await send(line, origin)
      expect(answer.status).toBe(status)
      expect(answer.header('access-control-allow-origin')).toBe('https://a.example')
      expect(answer.header('vary')).toBe('Origin')
      expect(answer.header('access-control-expose-headers')).toBe(
        'Retry-After, X-Request-Id, X-Access-Expires-In',
      )
      expect(answer.header('access-control-allow-credentials')).toBeUndefined()
    }
  })

  it.each([
    ['GET /console/v1/items', origin],
    ['GET /open', origin],
    ['GET /sample.json', origin],
    ['GET /v1', origin],
    ['GET /v1/account', 'Origin: https://b.example'],
    ['GET /v1/account', 'Origin: https://a.example.evil'],
    ['GET /v1/account', 'Origin: https://A.example'],
    ['GET /v1/account', 'Origin: http://a.example'],
    ['GET /v1/account', 'Origin: null'],
    ['GET /v1/account', 'X: y'],
  ])('[H-GEN-34] is not for %s with %s', async (line, header) => {
    const send = await open({ config })
    const answer = await send(line, header)
    expect(answer.headerLines.filter(([name]) => /^access-control|^vary$/.test(name))).toEqual([])
  })

  it('[H-GEN-34] is not for two origins at once', async () => {
    const send = await open({ config })
    const answer = await send('GET /v1/account', origin, origin)
    expect(answer.header('access-control-allow-origin')).toBeUndefined()
  })

  it('[H-GEN-34] answers a preflight with the methods of the path', async () => {
    const send = await open({ config })
    const ask = 'Access-Control-Request-Method: PATCH'
    const answer = await send('OPTIONS /v1/account', origin, ask)
    expect([answer.status, answer.body]).toEqual([204, ''])
    expect(answer.header('access-control-allow-methods')).toBe('GET, HEAD, PATCH')
    expect(answer.header('access-control-allow-headers')).toBe('authorization, content-type')
    expect(answer.header('access-control-max-age')).toBe('600')
    expect(answer.header('access-control-allow-origin')).toBe('https://a.example')
    expect(answer.header('allow')).toBeUndefined()
    expect((await send('OPTIONS /v1/nope', origin, ask)).status).toBe(404)
    expect((await send('OPTIONS /open', origin, ask)).status).toBe(405)
    expect((await send('OPTIONS /console/v1/items', origin, ask)).status).toBe(405)
    expect((await send('OPTIONS /v1/account', 'Origin: https://b.example', ask)).status).toBe(405)
    expect((await send('OPTIONS /v1/account', ask)).status).toBe(405)
  })

  it('[H-GEN-34] with * allows every origin, and none by name', async () => {
    const send = await open({ config: { cors_origins: ['*'] } })
    for (const each of ['https://b.example', 'null']) {
      const answer = await send('GET /v1/account', `Origin: ${each}`)
      expect(answer.header('access-control-allow-origin')).toBe('*')
    }
    expect((await send('GET /v1/account')).header('access-control-allow-origin')).toBeUndefined()
  })
})

describe('the source', () => {
  async function sourceOf(trustedProxies: string[], ...headers: string[]): Promise<string> {
    const send = await open({ trustedProxies })
    return JSON.parse((await send('GET /v1/account', asPlayer, ...headers)).body).source
  }

  it('[H-GEN-33] [O-PRX-1] is the peer, whatever a stranger says', async () => {
    const lies = ['X-Forwarded-For: 9.9.9.9', 'Forwarded: for=9.9.9.9', 'X-Real-IP: 9.9.9.9']
    expect(await sourceOf([], ...lies)).toBe('127.0.0.1')
    expect(await sourceOf(['10.0.0.0/8'], ...lies)).toBe('127.0.0.1')
  })

  it('[H-GEN-33] [O-PRX-1] is what a trusted proxy says, over all lines of its header', async () => {
    expect(await sourceOf(['127.0.0.0/8'], 'X-Forwarded-For: 9.9.9.9')).toBe('9.9.9.9')
    const lines = ['X-Forwarded-For: 9.9.9.9, 8.8.8.8', 'X-Forwarded-For: 10.1.1.1']
    expect(await sourceOf(['127.0.0.0/8', '10.0.0.0/8'], ...lines)).toBe('8.8.8.8')
    expect(await sourceOf(['127.0.0.0/8'], ...lines, 'X-Forwarded-For: junk')).toBe('127.0.0.1')
    expect(await sourceOf(['127.0.0.0/8'], 'Forwarded: for=9.9.9.9', 'X-Real-IP: 9.9.9.9')).toBe(
      '127.0.0.1',
    )
  })
})
