import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RawAnswer, sendRaw } from './connection/raw-connection.fixture.ts'
import { openSampleServer, type SampleServer, tokens } from './server.fixture.ts'

/** Who is asked what, and in which order. */

let server: SampleServer

beforeAll(async () => {
  server = await openSampleServer()
})
afterAll(() => server.close())

const json = 'Content-Type: application/json'
const broken = '{"text":'

function send(line: string, headers: readonly string[] = [], body = ''): Promise<RawAnswer> {
  const length = `Content-Length: ${Buffer.byteLength(body)}`
  return sendRaw(
    server.port,
    [`${line} HTTP/1.1`, 'Host: a', ...headers, length, '', body].join('\r\n'),
  )
}

function bearer(token: string): string {
  return `Authorization: Bearer ${token}`
}

async function statusOf(...request: Parameters<typeof send>): Promise<number> {
  return (await send(...request)).status
}

describe('the bearer', () => {
  it.each([
    ['no space', `Bearer${tokens.player}`],
    ['two spaces', `Bearer  ${tokens.player}`],
    ['a tab', `Bearer\t${tokens.player}`],
    ['lower case', `bearer ${tokens.player}`],
    ['capitals', `BEARER ${tokens.player}`],
    ['another scheme', `Basic ${tokens.player}`],
    ['the token alone', tokens.player],
    ['nothing behind it', 'Bearer'],
    ['a space behind it', 'Bearer '],
    ['two tokens', `Bearer ${tokens.player} x`],
    ['a comma list', `Bearer ${tokens.player}, Bearer ${tokens.player}`],
    ['nothing', ''],
    ['a character beyond ASCII', `Bearer ${tokens.player}é`],
    ['4,097 characters', `Bearer ${'x'.repeat(4097)}`],
  ])('[H-AUTH-1] is malformed with %s', async (_what, value) => {
    expect(await statusOf('GET /v1/account', [`Authorization: ${value}`])).toBe(401)
    expect(await statusOf('POST /v1/session/sample', [`Authorization: ${value}`])).toBe(401)
  })

  it('[H-AUTH-1] occurs once: two equal lines are malformed, whatever the case of their names', async () => {
    const line = bearer(tokens.player)
    expect(await statusOf('GET /v1/account', [line])).toBe(200)
    expect(await statusOf('GET /v1/account', [line, line])).toBe(401)
    expect(
      await statusOf('GET /v1/account', [line, line.replace('Authorization', 'aUTHORIZATION')]),
    ).toBe(401)
    expect(await statusOf('GET /v1/account', [line, 'Authorization:'])).toBe(401)
    expect(await statusOf('POST /v1/session/sample', [line, line])).toBe(401)
  })

  it('[H-AUTH-1] is seen twice behind thousands of other headers', async () => {
    const line = bearer(tokens.player)
    const others = Array.from({ length: 2500 }, () => 'a:')
    expect(await statusOf('GET /v1/account', [line, ...others])).toBe(200)
    expect(await statusOf('GET /v1/account', [line, ...others, line])).toBe(401)
  })

  it('[H-AUTH-1] may have 4,096 characters, and white space around the header does not count', async () => {
    expect(await statusOf('POST /v1/session/sample', [bearer('x'.repeat(4096))])).toBe(204)
    expect(
      await statusOf('GET /v1/account', [`Authorization: \t ${`Bearer ${tokens.player}`}  `]),
    ).toBe(200)
  })

  it('[H-AUTH-3] accepts one kind only: player, console and key are tried as what they are', async () => {
    for (const token of [tokens.admin, tokens.viewer, tokens.key, 'svc_x', 'unknown']) {
      expect(await statusOf('GET /v1/account', [bearer(token)])).toBe(401)
    }
    for (const token of [tokens.player, 'svc_', 'svc_admin-token', 'unknown']) {
      expect(await statusOf('GET /console/v1/items', [bearer(token)])).toBe(401)
    }
  })

  it('[H-PUB-1] is not looked at on public routes', async () => {
    for (const value of ['nonsense', 'Bearer x', `Bearer ${'x'.repeat(5000)}`]) {
      expect(await statusOf('GET /open', [`Authorization: ${value}`])).toBe(200)
      const sent = await send(
        'POST /v1/auth/sample',
        [json, `Authorization: ${value}`],
        '{"text":"a"}',
      )
      expect(sent.status).toBe(200)
    }
  })
})

describe('the order of the steps', () => {
  const item = 'PUT /console/v1/items/long-name?nope=1'

  it('[H-GEN-6] [H-GEN-28] asks for the path and the method before the credential', async () => {
    expect(await statusOf('GET /console/v1/unknown', ['Authorization: nonsense'], broken)).toBe(404)
    expect(await statusOf('DELETE /console/v1/items', ['Authorization: nonsense'], broken)).toBe(
      405,
    )
  })

  it('[H-GEN-6] [H-GEN-7] asks 401, then 403, then 400, whatever else is wrong', async () => {
    expect(await statusOf(item, [], broken)).toBe(401)
    expect(await statusOf(item, ['Authorization: nonsense'], broken)).toBe(401)
    expect(await statusOf(item, [bearer('svc_unknown')], broken)).toBe(401)
    expect(await statusOf(item, [bearer(tokens.key)], broken)).toBe(403)
    expect(await statusOf(item, [bearer(tokens.viewer)], broken)).toBe(403)
    expect(await statusOf(item, [bearer(tokens.admin)], broken)).toBe(400)
  })

  it('[H-GEN-8] asks players for 401 before 400', async () => {
    expect(await statusOf('PATCH /v1/account', [], broken)).toBe(401)
    expect(await statusOf('PATCH /v1/account', [bearer(tokens.player)], broken)).toBe(400)
    expect(await statusOf('PATCH /v1/account', [bearer(tokens.player), json], '{"text":"a"}')).toBe(
      200,
    )
  })

  it('[H-GEN-6] judges path parameters, then the query, then the body', async () => {
    const admin = [bearer(tokens.admin), json]
    const received = async (line: string) =>
      JSON.parse((await send(line, admin, broken)).body).message
    expect(await received(item)).toMatch(/^name /)
    expect(await received('PUT /console/v1/items/abc?nope=1')).toMatch(/query/)
    expect(await received('PUT /console/v1/items/abc?mode=b')).toMatch(/^mode /)
    expect(await received('PUT /console/v1/items/abc?mode=a')).toMatch(/^the body /)
  })

  it('[H-GEN-7] does not wait for the body of a stranger or a viewer', async () => {
    const head = (token: string) =>
      `POST /console/v1/items HTTP/1.1\r\nHost: a\r\n${token}Content-Length: 50000\r\n\r\n`
    expect((await sendRaw(server.port, head(''))).status).toBe(401)
    expect((await sendRaw(server.port, head(`${bearer(tokens.viewer)}\r\n`))).status).toBe(403)
  })
})

describe('API keys', () => {
  it('[H-AUTH-5] read what their scope covers with GET and HEAD, and nothing else', async () => {
    const key = [bearer(tokens.key)]
    expect(await statusOf('GET /console/v1/items', key)).toBe(200)
    expect(await statusOf('HEAD /console/v1/items', key)).toBe(200)
    expect(await statusOf('POST /console/v1/items', [...key, json], '{"text":"a"}')).toBe(403)
    expect(await statusOf('PUT /console/v1/items/a', [...key, json], '{"text":"a"}')).toBe(403)
  })

  it('[H-AUTH-5] are recorded once they passed the checks of credential and scope, then also when the request is refused', async () => {
    const before = server.keyReads.length
    await send('GET /console/v1/items?nope=1', [bearer(tokens.key)])
    await send('GET /console/v1/items/a%2Fb', [bearer(tokens.key)])
    await send('PUT /console/v1/items/a', [bearer(tokens.key)])
    await send('GET /console/v1/items', [bearer('svc_unknown')])
    await send('GET /console/v1/items', [bearer(tokens.admin)])
    expect(server.keyReads.slice(before)).toEqual(['/console/v1/items', '/console/v1/items/{name}'])
  })
})

describe('refusals of handlers', () => {
  const ask = (code: string) => send(`GET /console/v1/failures/${code}`, [bearer(tokens.admin)])

  it.each([
    ['missing', 404, 'not_found', 'not found'],
    ['conflict', 409, 'conflict', 'the rule that was broken'],
    ['limited', 429, 'rate_limited', 'too many requests'],
    ['gate', 503, 'runtime_unavailable', 'game script unavailable'],
    ['undeclared', 500, 'internal_error', 'internal server error'],
    ['bug', 500, 'internal_error', 'internal server error'],
  ])(
    '[H-GEN-1] [H-GEN-3] [H-GEN-32] become the answer of their code: %s',
    async (kind, status, code, message) => {
      const answer = await ask(kind)
      expect(answer.status).toBe(status)
      expect(JSON.parse(answer.body)).toEqual({ code, message })
      expect(answer.header('content-type')).toBe('application/json')
      expect(answer.header('retry-after')).toBe(status === 429 ? '7' : undefined)
      expect(answer.header('connection')).toBe('keep-alive')
    },
  )

  it('[H-GEN-4] reports a 5xx with its cause and the template of its route, but not that of the closed gate', async () => {
    const before = server.failures.length
    for (const kind of ['missing', 'conflict', 'limited', 'gate', 'undeclared', 'bug'])
      await ask(kind)
    const received = server.failures.slice(before)
    expect(received.map(({ request }) => [request.route, request.status])).toEqual([
      ['/console/v1/failures/{code}', 500],
      ['/console/v1/failures/{code}', 500],
    ])
    expect(received.map(({ error }) => String(error)).join()).toMatch(
      /undeclared forbidden.*secret/,
    )
  })

  it('[H-GEN-4] logs a 4xx at debug level without credential, body, query or path values', async () => {
    const before = server.log.lines.length
    await send('PUT /console/v1/items/S3CRET?S3CRET=S3CRET', [bearer('S3CRET')], 'S3CRET')
    await send('PUT /console/v1/items/S3CRET?S3CRET=S3CRET', [bearer(tokens.admin)], 'S3CRET')
    await send('GET /S3CRET', [bearer('S3CRET')])
    const lines = server.log.lines.slice(before)
    expect(lines.map(({ level }) => level)).toEqual(['debug', 'debug', 'debug'])
    expect(lines.map(({ fields }) => fields.route)).toEqual([
      '/console/v1/items/{name}',
      '/console/v1/items/{name}',
      'other',
    ])
    expect(JSON.stringify(lines)).not.toMatch(/S3CRET|admin-token/)
  })
})
