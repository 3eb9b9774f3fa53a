import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openRawConnection, type RawAnswer, sendRaw } from './connection/raw-connection.fixture.ts'
import { openSampleServer, type SampleServer, tokens } from './server.fixture.ts'

/** What comes behind the headers of a request. */

let server: SampleServer

beforeAll(async () => {
  server = await openSampleServer()
})
afterAll(() => server.close())

const json = 'Content-Type: application/json'
const asAdmin = `Authorization: Bearer ${tokens.admin}`

function post(
  body: string | Buffer,
  headers: readonly string[] = [json],
  path = '/v1/auth/sample',
) {
  const bytes = Buffer.from(body)
  const lines = [`POST ${path} HTTP/1.1`, 'Host: test', ...headers]
  const head = [...lines, `Content-Length: ${bytes.length}`, '', ''].join('\r\n')
  return sendRaw(server.port, Buffer.concat([Buffer.from(head), bytes]))
}

function postChunked(chunks: readonly string[], path = '/v1/auth/sample', ...headers: string[]) {
  const sized = chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`)
  const lines = [`POST ${path} HTTP/1.1`, 'Host: test', json, 'Transfer-Encoding: chunked']
  return sendRaw(
    server.port,
    `${[...lines, ...headers, '', ''].join('\r\n')}${sized.join('')}0\r\n\r\n`,
  )
}

function expectRefused(answer: RawAnswer): void {
  expect([answer.status, JSON.parse(answer.body).code]).toEqual([400, 'invalid_request'])
}

/** A body of exactly `bytes` bytes. */
function noteOf(bytes: number): string {
  return JSON.stringify({ text: 'x'.repeat(bytes - '{"text":""}'.length) })
}

describe('transfer codings', () => {
  const chunked = `Host: a\r\n${json}\r\nTransfer-Encoding:`
  const behind = '\r\n\r\nc\r\n{"text":"a"}\r\n0\r\n\r\nGET /open HTTP/1.1\r\nHost: a\r\n\r\n'

  it('[H-GEN-10] refuses a body in more than a thousand crumbs', async () => {
    expectRefused(await postChunked(Array(1100).fill(' ')))
    expect((await postChunked([...Array(1000).fill(' '), noteOf(20)])).status).toBe(200)
  })

  it.each(['chunked', ' CHUNKED ', '\tchunked'])(
    '[H-GEN-11] undoes "%s", and takes what follows for the next request',
    async (coding) => {
      const connection = await openRawConnection(server.port)
      connection.write(`POST /v1/auth/sample HTTP/1.1\r\n${chunked}${coding}${behind}`)
      expect((await connection.next()).body).toBe('{"bytes":1}')
      expect((await connection.next()).body).toBe('{"open":true}')
      connection.destroy()
    },
  )

  it.each([
    ['HTTP/1.1', 'gzip, chunked'],
    ['HTTP/1.1', 'identity, chunked'],
    ['HTTP/1.0', 'chunked'],
    ['HTTP/1.0\r\nConnection: keep-alive', 'chunked'],
  ])(
    '[H-GEN-5] refuses the body of %j in "%s", and takes nothing behind it for a request',
    async (version, coding) => {
      for (const line of ['POST /v1/auth/sample', 'GET /open']) {
        const connection = await openRawConnection(server.port)
        connection.write(`${line} ${version}\r\n${chunked} ${coding}${behind}`)
        const answer = await connection.next()
        expectRefused(answer)
        expect(answer.header('connection')).toBe('close')
        expect(await connection.closed).toBe('')
      }
    },
  )
})

describe('size', () => {
  it.each([
    ['/v1/auth/sample', 16_384],
    ['/console/v1/items', 65_536],
  ])(
    '[H-GEN-10] takes a body at %s of %d bytes and refuses one byte more',
    async (path, bytesMax) => {
      const headers = [json, asAdmin]
      expect((await post(noteOf(bytesMax), headers, path)).status).toBeLessThan(300)
      expectRefused(await post(noteOf(bytesMax + 1), headers, path))
    },
  )

  it('[H-GEN-10] counts a chunked body as it comes, and closes the connection beyond the limit', async () => {
    const half = 'x'.repeat(8192)
    const fits = ['{"text":"', half, 'x'.repeat(8192 - 11), '"}']
    expect((await postChunked(fits)).status).toBe(200)
    const answer = await postChunked(['{"text":"', half, 'x'.repeat(8192 - 10), '"}'])
    expectRefused(answer)
    expect(answer.header('connection')).toBe('close')
  })

  it('[H-GEN-10] answers before the rest of too long a body is sent', async () => {
    const connection = await openRawConnection(server.port)
    connection.write(
      `POST /v1/auth/sample HTTP/1.1\r\nHost: a\r\n${json}\r\nContent-Length: 16385\r\n\r\n`,
    )
    expectRefused(await connection.next())
    connection.destroy()
    const chunked = await openRawConnection(server.port)
    chunked.write(
      `POST /v1/auth/sample HTTP/1.1\r\nHost: a\r\n${json}\r\nTransfer-Encoding: chunked\r\n\r\n4001\r\n${'x'.repeat(16_385)}`,
    )
    expectRefused(await chunked.next())
    await chunked.closed
  })

  it('[H-GEN-10] closes rather than read a body of many megabytes, and goes on after a smaller one', async () => {
    const large = await openRawConnection(server.port)
    large.write(
      `POST /v1/auth/sample HTTP/1.1\r\nHost: a\r\n${json}\r\nContent-Length: 9000000\r\n\r\n`,
    )
    expect((await large.next()).header('connection')).toBe('close')
    await large.closed
    const small = await openRawConnection(server.port)
    const body = noteOf(100_000)
    small.write(
      `POST /v1/auth/sample HTTP/1.1\r\nHost: a\r\n${json}\r\nContent-Length: 100000\r\n\r\n${body}`,
    )
    expect((await small.next()).header('connection')).toBe('keep-alive')
    small.write('GET /open HTTP/1.1\r\nHost: a\r\n\r\n')
    expect((await small.next()).status).toBe(200)
    small.destroy()
  })

  it('[H-GEN-10] reads a body that comes in single bytes', async () => {
    const connection = await openRawConnection(server.port)
    const body = '{"text":"é😀"}'
    connection.write(
      `POST /v1/auth/sample HTTP/1.1\r\nHost: a\r\n${json}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`,
    )
    for (const byte of Buffer.from(body)) {
      connection.write(Buffer.of(byte))
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
    expect(JSON.parse((await connection.next()).body)).toEqual({ bytes: 6 })
    connection.destroy()
  })
})

describe('type and encoding', () => {
  it.each([
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'application/json ; version=1; charset=utf8',
    'application/problem+json',
    'application/vnd.api+json; charset=utf-8',
  ])('[H-GEN-11] takes the content type %s', async (type) => {
    expect((await post('{"text":"a"}', [`Content-Type: ${type}`])).status).toBe(200)
  })

  it.each([
    'text/plain',
    'text/json',
    'application/jsonp',
    'application/x-www-form-urlencoded',
    'application/json, text/plain',
    'application/json; charset=latin1',
    'application/json; charset=utf-16',
    'application/json; charset=utf-8; charset=utf-16',
    'application/json; charset=',
    'application/+json',
    'application/json+xml',
    'json',
    '',
  ])('[H-GEN-11] refuses the content type "%s"', async (type) => {
    expectRefused(await post('{"text":"a"}', [`Content-Type: ${type}`]))
  })

  it('[H-GEN-11] refuses a missing and a repeated content type', async () => {
    expectRefused(await post('{"text":"a"}', []))
    expectRefused(await post('{"text":"a"}', [json, json]))
    expectRefused(await post('{"text":"a"}', [json, 'Content-Type: text/plain']))
  })

  it('[H-GEN-11] refuses every content encoding but identity', async () => {
    const zipped = gzipSync('{"text":"a"}')
    expectRefused(await post(zipped, [json, 'Content-Encoding: gzip']))
    for (const encoding of ['deflate', 'br', 'identity, gzip', 'x', '']) {
      expectRefused(await post('{"text":"a"}', [json, `Content-Encoding: ${encoding}`]))
    }
    expectRefused(
      await post('{"text":"a"}', [json, 'Content-Encoding: identity', 'Content-Encoding: gzip']),
    )
    expect((await post('{"text":"a"}', [json, 'Content-Encoding: Identity'])).status).toBe(200)
  })
})

describe('content', () => {
  it.each([
    ['nothing', ''],
    ['white space', ' \n'],
    ['two values', '{"text":"a"}{}'],
    ['an array', '[]'],
    ['a string', '"text"'],
    ['null', 'null'],
    ['a mark of byte order', '\ufeff{"text":"a"}'],
    ['an unknown field', '{"text":"a","nope":1}'],
    ['__proto__', '{"text":"a","__proto__":{"count":1}}'],
    ['constructor', '{"text":"a","constructor":{}}'],
    ['a repeated field', '{"text":"a","text":"a"}'],
    ['a field repeated by escape', '{"text":"a","te\\u0078t":"a"}'],
    ['null for a needed field', '{"text":null}'],
    ['an integer with a fraction', '{"text":"a","count":1.0}'],
    ['an integer with an exponent', '{"text":"a","count":1e2}'],
    ['an integer as string', '{"text":"a","count":"1"}'],
    ['an unsafe integer', '{"text":"a","count":9007199254740992}'],
    ['an unpaired surrogate', '{"text":"\\ud800"}'],
    ['a reversed pair', '{"text":"\\udc00\\ud800"}'],
    ['a surrogate in a name', '{"text":"a","\\udfff":1}'],
    ['65 levels', `{"text":"a","metadata":${'['.repeat(64)}${']'.repeat(64)}}`],
  ])('[H-GEN-12] [H-GEN-13] [H-GEN-14] [H-GEN-15] refuses %s', async (_what, body) => {
    expectRefused(await post(body))
  })

  it('[H-GEN-12] takes 64 levels, and repeated and odd names within a free object', async () => {
    const deep = `{"a":${'['.repeat(62)}${']'.repeat(62)}}`
    expect((await post(`{"text":"a","metadata":${deep}}`)).status).toBe(200)
    const odd = '{"x":1.0,"x":2,"__proto__":{"y":1e2},"constructor":null}'
    expect((await post(`{"text":"a","metadata":${odd}}`)).status).toBe(200)
  })

  it.each([
    ['a lone continuation byte', [0x80]],
    ['an overlong slash', [0xc0, 0xaf]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['a cut character', [0xf0, 0x9f, 0x98]],
    ['beyond U+10FFFF', [0xf4, 0x90, 0x80, 0x80]],
  ])('[H-GEN-12] refuses bytes that are no UTF-8: %s', async (_what, bytes) => {
    const body = Buffer.concat([Buffer.from('{"text":"'), Buffer.from(bytes), Buffer.from('"}')])
    expectRefused(await post(body))
  })

  it('[H-GEN-3] never repeats in its message what was sent', async () => {
    const marker = 'S3CRETMARK'
    for (const body of [
      `{"text":"a","${marker}":1}`,
      `{"text":${JSON.stringify({ [marker]: marker })}}`,
      `{"text":"a","count":"${marker}"}`,
      `{"${marker}":1,"${marker}":2}`,
      `{"text":"a"}${marker}`,
      marker,
    ]) {
      expect((await post(body)).body).not.toContain(marker)
    }
  })
})

describe('routes that take no body', () => {
  it('[H-GEN-17] ignore one of any type, up to the limit, and go on with the connection', async () => {
    const connection = await openRawConnection(server.port)
    for (const headers of ['Content-Type: text/plain', 'Content-Encoding: gzip', 'X: y']) {
      const body = '{"broken'.repeat(2048)
      connection.write(
        `GET /open HTTP/1.1\r\nHost: a\r\n${headers}\r\nContent-Length: 16384\r\n\r\n${body}`,
      )
      expect((await connection.next()).status).toBe(200)
    }
    connection.destroy()
    expect((await postChunked([], '/v1/session/sample')).status).toBe(204)
  })

  it('[H-GEN-10] [H-GEN-17] refuse a longer one', async () => {
    const head = 'GET /open HTTP/1.1\r\nHost: a\r\n'
    expectRefused(await sendRaw(server.port, `${head}Content-Length: 16385\r\n\r\n`))
    const chunk = `4001\r\n${'x'.repeat(16_385)}\r\n`
    expectRefused(await sendRaw(server.port, `${head}Transfer-Encoding: chunked\r\n\r\n${chunk}`))
  })
})

describe('a body that may be missing', () => {
  const path = '/v1/session/sample'

  it('[H-PLY-12] may be missing or empty, then without a content type', async () => {
    const head = `POST ${path} HTTP/1.1\r\nHost: a\r\n`
    expect((await sendRaw(server.port, `${head}\r\n`)).status).toBe(204)
    expect((await sendRaw(server.port, `${head}Content-Type: text/plain\r\n\r\n`)).status).toBe(204)
    expect((await post('', ['Content-Type: text/plain'], path)).status).toBe(204)
    expect((await postChunked([], path)).status).toBe(204)
    const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`
    expect((await sendRaw(server.port, chunked)).status).toBe(204)
  })

  it('[H-PLY-12] is checked like any other when it is there', async () => {
    expect((await post('{"text":"a"}', [json], path)).status).toBe(204)
    expectRefused(await post('{"text":"a"}', [], path))
    expectRefused(await post('{}', [json, json], path))
    expectRefused(await post(' ', [json], path))
    expectRefused(await post('{"nope":1}', [json], path))
    expectRefused(await postChunked(['{'], path))
    expectRefused(await post(noteOf(16_385), [json], path))
  })
})

describe('framing', () => {
  const start = `POST /v1/auth/sample HTTP/1.1\r\nHost: a\r\n${json}\r\n`

  it.each([
    ['a length and chunks', 'Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['two lengths', 'Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x'],
    ['a signed length', 'Content-Length: +2\r\n\r\n{}'],
    ['a length that is no number', 'Content-Length: two\r\n\r\n{}'],
    ['a length beyond any', `Content-Length: ${'9'.repeat(30)}\r\n\r\n{}`],
    ['an unknown transfer encoding', 'Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n'],
    ['a broken chunk', 'Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n'],
    ['a chunk longer than seen', 'Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n'],
    ['a bare line feed', 'X: y\n\r\nX\r\n\r\n'],
    ['a folded header', 'X: y\r\n folded\r\nContent-Length: 2\r\n\r\n{}'],
    ['a header without a colon', 'nonsense\r\n\r\n'],
    ['a name with a space', 'X : y\r\n\r\n'],
    ['a control character', 'X: a\x01b\r\n\r\n'],
  ])('[H-GEN-5] answers 400 to %s and closes, once', async (_what, rest) => {
    const connection = await openRawConnection(server.port)
    connection.write(start + rest)
    const answer = await connection.next()
    expectRefused(answer)
    expect(answer.header('connection')).toBe('close')
    expect(await connection.closed).toBe('')
    expect(server.server.counters().http_requests_in_flight).toBe(0)
  })

  it('[H-GEN-5] never lets broken bytes answer for a request that came before them', async () => {
    const early = await openRawConnection(server.port)
    early.write(
      'POST /console/v1/items HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n',
    )
    expect((await early.next()).status).toBe(401)
    early.write('zz\r\n')
    expect(await early.closed).toBe('')
  })

  it('[H-GEN-5] judges broken bytes by the last request of a connection, not by its first', async () => {
    const kept = async () => {
      const connection = await openRawConnection(server.port)
      connection.write('GET /open HTTP/1.1\r\nHost: a\r\n\r\n')
      expect((await connection.next()).status).toBe(200)
      return connection
    }
    const broken = await kept()
    broken.write(`${start}Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n`)
    expectRefused(await broken.next())
    expect(await broken.closed).toBe('')
    const early = await kept()
    const console = 'POST /console/v1/items HTTP/1.1\r\nHost: a\r\n'
    early.write(`${console}Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n`)
    expect((await early.next()).status).toBe(401)
    early.write('zz\r\n')
    expect(await early.closed).toBe('')
  })

  it('[H-GEN-5] answers what came before broken bytes, then refuses them and closes', async () => {
    const connection = await openRawConnection(server.port)
    const open = 'GET /open HTTP/1.1\r\nHost: a\r\n\r\n'
    connection.write(`${open}GET /held HTTP/1.1\r\nHost: a\r\n\r\n${open}nonsense\r\n\r\n${open}`)
    expect((await connection.next()).body).toBe('{"open":true}')
    await vi.waitFor(() => expect(server.held.reached()).toBe(1))
    connection.write('more of it')
    server.held.release()
    expect((await connection.next()).body).toBe('{"held":false}')
    expect((await connection.next()).body).toBe('{"open":true}')
    const answer = await connection.next()
    expectRefused(answer)
    expect(answer.header('connection')).toBe('close')
    expect(await connection.closed).toBe('')
    expect(server.server.counters().http_requests_in_flight).toBe(0)
  })

  it('[H-GEN-1] answers 100 to a client that waits for it, whatever else it expects', async () => {
    const connection = await openRawConnection(server.port)
    connection.write(`${start}Expect: 100-continue\r\nContent-Length: 12\r\n\r\n`)
    expect((await connection.next()).status).toBe(100)
    connection.write('{"text":"a"}')
    expect((await connection.next()).status).toBe(200)
    connection.destroy()
    const answer = await sendRaw(
      server.port,
      'GET /open HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n\r\n',
    )
    expect([answer.status, answer.body]).toEqual([200, '{"open":true}'])
  })
})
