import { PassThrough, Writable } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../clock.fake.ts'
import { Unavailable } from '../errors/unavailable.ts'
import type { LogLevel } from './log.ts'
import type { LogFormat } from './log-lines.ts'
import { createLog, createStreamSink, type LogSink, parseLogLevels } from './log-writer.ts'

type Options = { level?: string; format?: LogFormat; write?: LogSink }

function open({ level = 'info', format = 'json', write }: Options = {}) {
  const levels = parseLogLevels(level)
  if (!levels) throw new Error('the test needs a level')
  const texts: string[] = []
  const clock = createFakeClock({ startUnixMs: 1_763_700_000_123 })
  const keep: LogSink = (text) => texts.push(text) > 0
  const identity = { nodeId: 'dev-1', bootId: 'bt1-7f' }
  const writer = createLog({ levels, format, ...identity, clock, write: write ?? keep })
  return {
    ...writer,
    text: () => {
      writer.flush()
      return texts.join('')
    },
  }
}

function jsonLines(text: string): Record<string, unknown>[] {
  const lines = text.split('\n')
  expect(lines.pop()).toBe('')
  return lines.map((line) => JSON.parse(line))
}

describe('the log as JSON', () => {
  it('[O-LOG-1] writes one object per line with its head, and the fields under their names', () => {
    const node = open()
    const log = node.log.component('http').with({ request_id: 'r1', method: 'GET' })
    log.info('request answered', {
      route: '/v1/a',
      status: 200,
      duration_ms: 1.5,
      client: '10.0.0.0',
    })
    expect(jsonLines(node.text())).toEqual([
      {
        time: '2025-11-21T04:40:00.123Z',
        level: 'info',
        component: 'http',
        msg: 'request answered',
        node_id: 'dev-1',
        boot_id: 'bt1-7f',
        request_id: 'r1',
        method: 'GET',
        route: '/v1/a',
        status: 200,
        duration_ms: 1.5,
        client: '10.0.0.0',
      },
    ])
  })

  it('[O-LOG-1] writes the message and stack of an error, and of what caused it', () => {
    const node = open()
    const error = new Error('write failed', { cause: new TypeError('disk\nfull') })
    node.log.error('a batch was lost', { error })
    node.log.warn('thrown by a script', { error: 'just text' })
    const [first, second] = jsonLines(node.text())
    expect(first).toMatchObject({ error: 'write failed' })
    expect(first?.stack).toContain('log-writer.test.ts')
    expect(first?.stack).toContain('caused by: TypeError: disk\nfull')
    expect(second).toMatchObject({ error: '"just text"' })
    expect(second).not.toHaveProperty('stack')
  })

  it('[O-LOG-1] never lets a field pose as a part of the head', () => {
    const node = open()
    node.log.info('real', { msg: 'forged', level: 'error', node_id: 'other', absent: undefined })
    const [line] = jsonLines(node.text())
    expect(line).toMatchObject({ msg: 'real', level: 'info', node_id: 'dev-1', msg_: 'forged' })
    expect(line).not.toHaveProperty('absent')
  })

  it('[O-LOG-1] writes what JSON does not know, and cuts what is endless', () => {
    const node = open()
    const circular: Record<string, unknown> = {}
    circular.self = circular
    node.log.info('x'.repeat(100_000), { big: 2n ** 63n, circular, long: 'y'.repeat(100_000) })
    expect(node.text().length).toBeLessThan(50_000)
    node.log.info('next', { big: 2n ** 63n })
    expect(jsonLines(node.text())[1]).toMatchObject({ msg: 'next', big: '9223372036854775808' })
  })
})

describe('the log for people', () => {
  it('[O-LOG-1] writes the same fields, and indents a stack', () => {
    const node = open({ format: 'pretty' })
    node.log
      .component('http')
      .with({ request_id: 'r1' })
      .warn('slow "answer"', {
        route: '/v1/a',
        note: 'two words',
        error: new Error('late'),
      })
    const [first, ...rest] = node.text().trimEnd().split('\n')
    expect(first).toBe(
      '2025-11-21T04:40:00.123Z WARN  http: slow "answer" request_id=r1 route=/v1/a ' +
        'note="two words" error=late node_id=dev-1 boot_id=bt1-7f',
    )
    expect(rest[0]).toBe('    Error: late')
    expect(rest.every((line) => line.startsWith('    '))).toBe(true)
  })

  it('names no node to a person, and says of an outage only what it is', () => {
    const node = open({ format: 'person' })
    const cause = new Error('connect ECONNREFUSED')
    node.log.warn('a task failed', { error: new Unavailable('the database is down', { cause }) })
    node.log.info('alone')
    node.log.error('a bug', { error: new Error('late') })
    const [outage, alone, bug, stack] = node.text().split('\n')
    expect(outage).toBe(
      '2025-11-21T04:40:00.123Z WARN  node: a task failed ' +
        'error="the database is down: connect ECONNREFUSED"',
    )
    expect(alone).toBe('2025-11-21T04:40:00.123Z INFO  node: alone')
    expect(bug).toMatch(/ERROR node: a bug error=late$/)
    expect(stack).toBe('    Error: late')
  })
})

describe('forgery', () => {
  const hostile = fc.string({
    unit: fc.oneof(
      fc.constantFrom('\n', '\r', '\u0000', '\u001b[2J', '\u007f', '\u0085', '\u2028', '\u202e'),
      fc.constantFrom('"', '\\', '{', '}', '=', ' '),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    ),
  })
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not come out.
  const unsafe = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e]/

  it.each(['json', 'pretty', 'person'] as const)(
    '[O-LOG-1] is impossible for any input (%s)',
    (format) => {
      const property = fc.property(hostile, hostile, hostile, (message, name, value) => {
        const node = open({ format })
        const error = new Error(value)
        node.log.component(name).error(message, { [name]: value, error, thrown: [value] })
        const text = node.text()
        expect(text).not.toMatch(unsafe)
        const begun = text.trimEnd().split('\n')
        expect(begun.filter((line) => !line.startsWith('    '))).toHaveLength(1)
        if (format === 'json')
          expect(jsonLines(text)[0]).toMatchObject({ msg: message, error: value })
      })
      fc.assert(property, { numRuns: 300 })
    },
  )
})

describe('levels', () => {
  it.each<[string, string, LogLevel[]]>([
    ['info', 'http', ['info', 'warn', 'error']],
    ['error', 'http', ['error']],
    ['trace', 'http', ['trace', 'debug', 'info', 'warn', 'error']],
    ['info,realtime=debug', 'realtime', ['debug', 'info', 'warn', 'error']],
    ['info,realtime=debug', 'http', ['info', 'warn', 'error']],
    ['debug, http = error', 'http', ['error']],
  ])('%s lets %s write %j', (level, component, expected) => {
    const node = open({ level })
    const log = node.log.component(component)
    for (const each of ['trace', 'debug', 'info', 'warn', 'error'] as const) log[each]('a line')
    expect(jsonLines(node.text()).map((line) => line.level)).toEqual(expected)
  })

  it.each([
    '',
    'loud',
    'info,',
    'info,=debug',
    'info,http',
    'info,http=loud',
    'info,a=b=c',
    ',info',
  ])('refuses %j', (text) => expect(parseLogLevels(text)).toBeUndefined())

  it('does not look at the fields of a line that is not written', () => {
    const node = open()
    const fields = {
      get costly(): string {
        throw new Error('looked at')
      },
    }
    expect(() => node.log.debug('quiet', fields)).not.toThrow()
    expect(node.text()).toBe('')
  })
})

describe('a reader that is slow or gone', () => {
  it('[O-LOG-3] loses lines and counts them when the sink refuses', () => {
    let open_ = true
    const node = open({ write: () => open_ })
    node.log.info('taken')
    node.flush()
    open_ = false
    node.log.info('lost')
    node.log.info('lost too')
    node.log.error('and this')
    expect(node.linesDropped()).toBe(3)
    open_ = true
    node.log.error('taken again')
    expect(node.linesDropped()).toBe(3)
  })

  it('[O-LOG-3] holds a bounded amount for a reader that blocks, and goes on when it reads', () => {
    const stream = new PassThrough({ highWaterMark: 1024 })
    const sink = createStreamSink(stream)
    const line = `${'x'.repeat(1023)}\n`
    let taken = 0
    while (sink(line) && taken < 5000) taken += 1
    expect(taken).toBeGreaterThan(1000)
    expect(taken).toBeLessThan(1100)
    stream.resume()
    return expect.poll(() => sink(line)).toBe(true)
  })

  it('[O-LOG-3] survives a stream that breaks', async () => {
    const broken = new Writable({ write: (_chunk, _encoding, done) => done(new Error('EPIPE')) })
    const sink = createStreamSink(broken)
    expect(sink('first\n')).toBe(true)
    await expect.poll(() => sink('second\n')).toBe(false)
  })

  it('writes the lines of one turn at once, and a grave one without waiting', async () => {
    const texts: string[] = []
    const node = open({ write: (text) => texts.push(text) > 0 })
    node.log.info('one')
    node.log.info('two')
    expect(texts).toEqual([])
    await expect.poll(() => texts.length).toBe(1)
    expect(texts[0]?.split('\n')).toHaveLength(3)
    node.log.info('three')
    node.log.error('four')
    expect(texts).toHaveLength(2)
  })
})
