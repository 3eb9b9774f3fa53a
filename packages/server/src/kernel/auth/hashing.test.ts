import { readdirSync, readFileSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { afterEach, describe, expect, it } from 'vitest'
import { createSystemClock } from '../clock.ts'
import { Failure } from '../failure.ts'
import { createIds } from '../ids.ts'
import { createRecordedLog } from '../log/log.fake.ts'
import { createHashing, type Hashing, type HashingConfig } from './hashing.ts'

const clock = createSystemClock()
const ids = createIds({ clock, nodeId: 'dev-1', bootId: 'bt1-0' })
const standard = { memory_kib: 19456, iterations: 2, parallelism: 1, concurrency: 1, queue: 256 }
/** As cheap as the algorithm allows, where the cost does not matter. */
const cheap = { ...standard, memory_kib: 8, iterations: 1 }

const opened: Hashing[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((hashing) => hashing.stop()))
})

function open(config: HashingConfig = cheap, options: { startWorker?: () => Worker } = {}) {
  const log = createRecordedLog()
  const hashing = createHashing({ config, ids, clock, log, ...options })
  opened.push(hashing)
  return Object.assign(hashing, { log })
}

/** A real thread that ends when it meets the password `crash`, and never answers `hang`. */
function startFragileWorker(): Worker {
  const source = `
    const { parentPort } = require('node:worker_threads')
    parentPort.on('message', ({ password }) => {
      if (password === 'crash') process.exit(1)
      if (password === 'throw') throw new Error('out of memory')
      if (password !== 'hang') parentPort.postMessage({ value: 'verifier of ' + password })
    })`
  return new Worker(source, { eval: true })
}

describe('password hashing', () => {
  it('[H-PLY-7] makes Argon2id 1.3 verifiers with the configured costs', async () => {
    const hashing = open(standard)
    const verifier = await hashing.hash('correct horse')
    expect(verifier).toMatch(
      /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/,
    )
    expect(await hashing.verify(verifier, 'correct horse')).toBe(true)
    expect(await hashing.verify(verifier, 'correct horsf')).toBe(false)
    expect(await hashing.verify(verifier, '')).toBe(false)
  })

  it('[H-PLY-7] salts: one password has many verifiers', async () => {
    const hashing = open()
    const [first, second] = await Promise.all([hashing.hash('same'), hashing.hash('same')])
    expect(first).not.toBe(second)
    expect(await hashing.verify(second, 'same')).toBe(true)
  })

  it('[H-PLY-7] checks verifiers that were made with other costs', async () => {
    const strong = await open({ ...cheap, memory_kib: 64, iterations: 3, parallelism: 2 }).hash('a')
    expect(await open().verify(strong, 'a')).toBe(true)
    expect(await open().verify(strong, 'b')).toBe(false)
  })

  it.each([
    ['the same costs', {}, false],
    ['more memory', { memory_kib: 32 }, false],
    ['more passes', { iterations: 3 }, false],
    ['more lanes', { parallelism: 2 }, false],
    ['less memory', { memory_kib: 15 }, true],
    ['fewer passes', { iterations: 1 }, true],
    ['more memory but fewer passes', { memory_kib: 64, iterations: 1 }, true],
  ])('[H-PLY-7] replaces weaker verifiers only: %s', async (_name, change, expected) => {
    const base = { ...cheap, memory_kib: 16, iterations: 2 }
    const verifier = await open({ ...base, ...change }).hash('a')
    expect(open(base).needsRehash(verifier)).toBe(expected)
  })

  it('[H-AUTH-4] takes a malformed verifier for nobody’s, and says so without showing it', async () => {
    const hashing = open()
    const good = await hashing.hash('a')
    const salted = '$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$'
    const malformed = [
      '',
      'a',
      '$argon2id$',
      salted,
      `${salted}AAAA`,
      `${good}!`,
      good.slice(0, -2),
      good.replace('m=8', 'm=0'),
      good.replace('m=8', 'm=4000000000'),
      good.replace('t=1', 't=4000000000'),
      good.replace('argon2id', 'argon2d'),
      good.replace('v=19', 'v=16'),
    ]
    for (const verifier of malformed) {
      expect(await hashing.verify(verifier, 'a'), verifier).toBe(false)
      expect(hashing.needsRehash(verifier), verifier).toBe(true)
    }
    expect(hashing.log.lines).toHaveLength(malformed.length)
    expect(JSON.stringify(hashing.log.lines)).not.toContain('argon2')
    expect(await hashing.verify(good, 'a')).toBe(true)
  })

  it('[H-AUTH-4] does the full work for an unknown account and never lets it in', async () => {
    const durations: number[] = []
    const log = createRecordedLog()
    const observe = (durationMs: number) => durations.push(durationMs)
    const hashing = createHashing({ config: cheap, ids, clock, log, observe })
    opened.push(hashing)
    expect(await hashing.verifyDummy('password')).toBe(false)
    expect(await hashing.verifyDummy('')).toBe(false)
    expect(durations).toHaveLength(2)
    expect(log.lines).toEqual([])
  })

  it('[H-AUTH-4] checks a stranger against a verifier of the configured costs', async () => {
    const startWorker = () => {
      const source = `
        const { parentPort } = require('node:worker_threads')
        parentPort.on('message', ({ verifier }) => parentPort.postMessage({ error: verifier }))`
      return new Worker(source, { eval: true })
    }
    await expect(open(standard, { startWorker }).verifyDummy('password')).rejects.toThrow(
      /\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/,
    )
  })

  it('[H-ADM-6] refuses with Retry-After 1 once the queue is full, and recovers', async () => {
    const hashing = open({ ...cheap, concurrency: 1, queue: 2 })
    const accepted = [hashing.hash('running'), hashing.hash('first'), hashing.hash('second')]
    expect(hashing.depth()).toBe(2)
    const refusal = await hashing.hash('third').catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(Failure)
    expect(refusal).toMatchObject({ code: 'rate_limited', retryAfterSec: 1 })
    for (const verifier of await Promise.all(accepted)) expect(verifier).toContain('$argon2id$')
    expect(hashing.depth()).toBe(0)
    expect(await hashing.hash('fourth')).toContain('$argon2id$')
  })

  it('starts no more threads than configured, and none before the first password', async () => {
    const started: Worker[] = []
    const startWorker = () => {
      const worker = startFragileWorker()
      started.push(worker)
      return worker
    }
    const hashing = open({ ...cheap, concurrency: 2 }, { startWorker })
    expect(started).toHaveLength(0)
    const answers = ['a', 'b', 'c', 'd'].map((password) => hashing.hash(password))
    expect(started).toHaveLength(2)
    expect(await Promise.all(answers)).toEqual(['a', 'b', 'c', 'd'].map((p) => `verifier of ${p}`))
    expect(started).toHaveLength(2)
  })

  it.each(['crash', 'throw'])(
    'fails one request when its thread ends (%s), and serves the next on a new one',
    async (password) => {
      const hashing = open(cheap, { startWorker: startFragileWorker })
      const [lost, next] = await Promise.allSettled([hashing.hash(password), hashing.hash('b')])
      expect(lost).toMatchObject({ status: 'rejected', reason: { cause: expect.any(Error) } })
      expect(next).toEqual({ status: 'fulfilled', value: 'verifier of b' })
      expect(hashing.log.lines.map((line) => line.level)).toEqual(['error'])
    },
  )

  it('rejects what runs and what waits when it is stopped', async () => {
    const hashing = open(cheap, { startWorker: startFragileWorker })
    const settled = Promise.allSettled([hashing.hash('hang'), hashing.hash('waiting')])
    await hashing.stop()
    expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await expect(hashing.hash('late')).rejects.toThrow('stopped')
    expect(hashing.log.lines).toEqual([])
  })

  it.runIf(process.platform === 'linux')('gives way to the event loop', async () => {
    const before = niceThreads()
    const hashing = open()
    await hashing.hash('a')
    expect(niceThreads() - before).toBe(1)
  })
})

/** How many threads of this process have lowered their own priority. */
function niceThreads(): number {
  const priorities = readdirSync('/proc/self/task').map((id) => {
    const status = readFileSync(`/proc/self/task/${id}/stat`, 'utf8')
    return Number(status.slice(status.lastIndexOf(')') + 2).split(' ')[16])
  })
  return priorities.filter((priority) => priority === 10).length
}
