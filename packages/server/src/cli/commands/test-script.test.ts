import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runScriptTests } from '../../testing/script-tests.ts'

/** Counts messages, keeps the time, and stores. */
const game = `
  let seconds = 0
  const scores = new Map()
  guildhall.on_message(100, (ctx) => {
    const score = (scores.get(ctx.sender) ?? 0) + 1
    scores.set(ctx.sender, score)
    guildhall.send(ctx.sender, 101, JSON.stringify({ score }))
  })
  guildhall.every(1000, () => guildhall.broadcast(102, String((seconds += 1))))
  guildhall.on_tick((dt) => guildhall.broadcast(103, String(dt)))
  guildhall.on_rpc('now', () => guildhall.now_ms())
  guildhall.on_rpc('later', () => new Promise((done) => guildhall.after(5000, () => done('!'))))
  guildhall.on_rpc('nap', async () => { await guildhall.sleep(5000); return '?' })
  guildhall.on_rpc('motto', () => 'onwards')
  guildhall.on_rpc('allow', () => guildhall.allow('sometimes', 1, 5000))
  guildhall.on_rpc('refuse', () => guildhall.fail('not today'))
  guildhall.on_rpc('throw', () => { throw new Error('on purpose') })
  guildhall.on_rpc('who', (ctx) => [ctx.sender, ctx.user_id, ctx.username])
  guildhall.on_rpc('exit', () => process.exit())
  guildhall.on_drop((ctx) => guildhall.trace('dropped ' + ctx.sender))
  guildhall.on_return((ctx) => guildhall.trace('back ' + ctx.sender))
  guildhall.on_leave((ctx) => guildhall.trace('gone ' + ctx.sender))
  guildhall.on_rpc('save', async (ctx) => {
    await guildhall.storage_write(ctx.user_id, 'bag', 'sword', { level: 3 })
    await guildhall.notifications.send({ user_id: ctx.user_id, subject: 'saved', push: true })
  })
`

const head = `
  import assert from 'node:assert/strict'
  import { test } from 'node:test'
  import { openGame } from 'guildhall/test'
`

const passing = `${head}
  test('messages, replies and refusals', async (t) => {
    const game = await openGame(t)
    const ana: { participant: number } & any = await game.signIn('ana')
    ana.send(100)
    ana.send(100)
    assert.deepEqual((await ana.message(101)).json(), { score: 1 })
    assert.deepEqual((await ana.message(101)).json(), { score: 2 })
    assert.deepEqual(await ana.rpc('who'), [ana.participant, ana.user_id, 'ana'])
    const guest = await game.guest()
    assert.deepEqual(await guest.rpc('who'), [guest.participant, null, null])
    await assert.rejects(ana.rpc('refuse'), { message: 'not today' })
    await assert.rejects(ana.rpc('throw'), { message: 'RPC handler error' })
    await assert.rejects(ana.rpc('motto'), { code: 'malformed_reply', message: /as: 'text'/ })
    assert.equal(await ana.rpc('motto', undefined, { as: 'text' }), 'onwards')
    assert.match(String(game.log().at(-1).reason), /on purpose/)
  })
  test('the clock is the test\\'s', async (t) => {
    const now = new Date('2030-06-01T00:00:00Z')
    const game = await openGame(t, { now })
    const ana = await game.signIn('ana')
    assert.equal(await ana.rpc('now'), now.getTime())
    assert.deepEqual([await ana.rpc('allow'), await ana.rpc('allow')], [true, false])
    const later = ana.rpc('later', undefined, { as: 'text' })
    const nap = ana.rpc('nap', undefined, { as: 'text' })
    await game.advance(5000)
    assert.deepEqual([await later, await nap], ['!', '?'])
    assert.equal(await ana.rpc('now'), now.getTime() + 5000)
    assert.equal(await ana.rpc('allow'), true)
    assert.equal(ana.received.filter(({ kind }) => kind === 102).length, 5)
  })
  test('ticks come with the clock', async (t) => {
    const game = await openGame(t, { settings: { 'runtime.tick_hz': '10' } })
    const ana = await game.signIn('ana')
    await game.advance(1000)
    const ticks = ana.received.filter(({ kind }) => kind === 103)
    assert.deepEqual(ticks.map((tick) => tick.text()), Array(10).fill('0.1'))
  })
  test('what is stored, pushed and signed in to again', async (t) => {
    const game = await openGame(t)
    const ana = await game.signIn('ana')
    await ana.rpc('save')
    assert.equal((await ana.notification()).subject, 'saved')
    const operator = await game.console()
    const at = { params: { collection: 'bag', key: 'sword' }, query: { user_id: ana.user_id } }
    assert.deepEqual((await operator.storage.get(at)).value, { level: 3 })
    await ana.leave()
    assert.equal((await game.signIn('ana')).user_id, ana.user_id)
  })
  test('a worker that ends is there again after its pause', async (t) => {
    const game = await openGame(t)
    const ana = await game.signIn('ana')
    await assert.rejects(ana.rpc('exit'), { message: 'RPC runtime not available' })
    await game.advance(1000)
    assert.equal(await ana.rpc('motto', undefined, { as: 'text' }), 'onwards')
  })
  test('a lost connection keeps its seat for 10 s unless configured otherwise, and comes back', async (t) => {
    const game = await openGame(t)
    const [ana, ben] = [await game.signIn('ana'), await game.signIn('ben')]
    const yard = await ana.rooms.create('yard')
    await ben.rooms.join(yard.id)
    await ana.drop()
    await game.settled()
    assert.equal(ana.connection.state, 'reconnecting')
    assert.deepEqual(lives(game), ['dropped ' + ana.participant])
    await game.advance(1000)
    assert.equal(ana.connection.state, 'open')
    assert.deepEqual(lives(game).slice(1), ['back ' + ana.participant])
    assert.deepEqual(await ana.rpc('who'), [ana.participant, ana.user_id, 'ana'])
    await ben.drop()
    await ben.leave()
    await game.advance(8000)
    assert.equal(lives(game).length, 3)
    await game.advance(3000)
    const [dropped, gone, ...more] = lives(game).slice(2)
    assert.deepEqual([dropped, gone], ['dropped ' + ben.participant, 'gone ' + ben.participant])
    assert.deepEqual(more, [])
  })
  const lives = (game) => game.log().map(({ msg }) => msg).filter((msg) => life.test(msg))
  const life = /^(dropped|back|gone) /
  test('minutes pass and everybody is still there', async (t) => {
    const game = await openGame(t)
    const ana = await game.signIn('ana')
    await game.advance(600_000)
    ana.send(100)
    assert.deepEqual((await ana.message(101)).json(), { score: 1 })
  })
`

/** Its view is not pure, and a message makes one object of two. */
const table = `
  guildhall.room('table', {
    create: () => ({ a: { n: 0 }, b: { n: 0 }, seen: 0 }),
    message: {
      100: (ctx, body, { state }) => void (state.b = state.a),
      101: (ctx, body, { state }) => void (state.a.n += 1),
    },
    view: (state) => {
      if (state.a.n > 1) state.seen += 1
      return { n: state.a.n }
    },
    own: ({ a }, { participant }) => a.n * participant,
  })
`

const seeing = `${head}
  test('state', async (t) => {
    const game = await openGame(t)
    const ana = await game.signIn('ana')
    assert.equal(ana.state, undefined)
    await ana.rooms.joinOrCreate('green', { mode: 'table' })
    ana.send(101)
    await game.advance(50)
    assert.deepEqual([ana.state, ana.own], [{ n: 1 }, ana.participant])
    const reasons = () => game.log().map(({ reason }) => String(reason)).join(' ')
    assert.doesNotMatch(reasons(), /one object/)
    ana.send(100)
    await game.advance(50)
    assert.match(reasons(), /room.state.a and room.state.b are one object/)
    ana.send(101)
    await game.advance(50)
    assert.deepEqual(ana.state, { n: 1 })
    assert.match(reasons(), /read only/)
  })
`

/** It keeps an object that it has put into the state, and writes to it there. */
const held = `
  const held = { n: 0 }
  guildhall.room('held', {
    track: true,
    create: () => ({ held, list: [] }),
    message: {
      100: (ctx, body, { state }) => void state.list.push(++state.held.n),
      101: () => void (held.n += 10),
    },
  })
`

const finding = `${head}
  test('writes that nobody notes', async (t) => {
    const game = await openGame(t)
    const ana = await game.signIn('ana')
    await ana.rooms.joinOrCreate('green', { mode: 'held' })
    const reasons = () => game.log().map(({ reason }) => String(reason)).join(' ')
    ana.send(100)
    await game.advance(50)
    assert.deepEqual(ana.state, { held: { n: 1 }, list: [1] })
    assert.doesNotMatch(reasons(), /written to/)
    ana.send(101)
    await game.advance(50)
    assert.match(reasons(), /an object was written to that was not read from room.state/)
    assert.deepEqual(ana.state, { held: { n: 11 }, list: [1] })
  })
`

const failing = `${head}
  test('a wrong hope', async (t) => {
    const game = await openGame(t)
    const ana = await game.signIn('ana')
    assert.equal(await ana.rpc('refuse').catch((error) => error.message), 'tomorrow')
  })
  test('a message that does not come', async (t) => {
    const game = await openGame(t)
    await (await game.signIn('ana')).message(101)
  })
  test('a key that is not there', (t) => openGame(t, { settings: { 'runtime.colour': 'red' } }))
`

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'guildhall-tested-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
}

describe('test-script', () => {
  it('[R-SDK-16] runs the tests of a game on a clock that they move, and ends with 0', async () => {
    write({ 'main.ts': game, 'deep/counting.test.ts': passing })
    write({ 'node_modules/other/its.test.js': 'throw new Error()' })
    const { code, stdout } = await runScriptTests([folder])
    expect(code, stdout).toBe(0)
    expect(stdout).toContain('on purpose')
    expect(stdout).toContain('pass 7')
    expect(stdout).toContain('the clock is the test')
  }, 120_000)

  it('[S-STA-6] players have state, views change nothing, and one object at two places is found', async () => {
    write({ 'main.ts': table, 'table.test.ts': seeing })
    const { code, stdout } = await runScriptTests([folder])
    expect(code, stdout).toBe(0)
    expect(stdout).toContain('pass 1')
  })

  it('[S-STA-6] a write past the notes of a tracked state is found', async () => {
    write({ 'main.ts': held, 'held.test.ts': finding })
    const { code, stdout } = await runScriptTests([folder])
    expect(code, stdout).toBe(0)
    expect(stdout).toContain('pass 1')
  })

  it('ends with 1 when one fails, and says which and why', async () => {
    write({ 'game/main.ts': game, 'game/wrong.test.ts': failing })
    write({ 'game/right.test.js': `${head} test('right', async (t) => void (await openGame(t)))` })
    write({ 'game/broken.test.ts': 'this is no TypeScript' })
    const { code, stdout } = await runScriptTests(['--json'], { cwd: folder })
    expect(code).toBe(1)
    const { tests, ...report } = JSON.parse(stdout) as { tests: { name: string; file: string }[] }
    expect(report).toMatchObject({ ok: false, passed: 1, failed: 4 })
    const facts = new Map(tests.map((test) => [test.name, test]))
    expect(facts.get('right')).toMatchObject({ ok: true, file: 'right.test.js' })
    expect(facts.get('a wrong hope')).toMatchObject({
      file: 'wrong.test.ts',
      message: expect.stringContaining("'tomorrow'"),
    })
    expect(facts.get('a message that does not come')).toMatchObject({
      message: 'a message of kind 101 did not come within 5000 ms',
    })
    expect(facts.get('a key that is not there')).toMatchObject({
      message: expect.stringContaining('runtime.colour'),
    })
    expect(facts.get('broken.test.ts')).toMatchObject({ ok: false })
  }, 120_000)

  it('shows the line of the test whose call was refused', async () => {
    const refused = `import { test } from 'node:test'
      import { openGame } from 'guildhall/test'
      test('refused', async (t) => {
        const ana = await (await openGame(t)).signIn('ana')
        await ana.rpc('who')
        await ana.rpc('throw')
      })`
    write({ 'main.ts': game, 'refused.test.ts': refused })
    const { code, stdout } = await runScriptTests([folder])
    expect(code).toBe(1)
    expect(stdout).toContain('RPC handler error')
    expect(stdout).toContain('refused.test.ts:6:')
  })

  it('ends with 1 when there is no test, and when the script does not load', async () => {
    write({ 'main.ts': game })
    const none = await runScriptTests([folder])
    expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining('no *.test.ts') })
    write({ 'main.ts': 'throw new Error("too early")' })
    write({ 'a.test.ts': `${head} test('a', async (t) => void (await openGame(t)))` })
    const broken = await runScriptTests([folder])
    expect(broken).toMatchObject({ code: 1, stdout: expect.stringContaining('too early') })
  })

  it.each([
    [['nowhere'], 'there is no folder nowhere'],
    [['one', 'two'], 'test-script takes one argument'],
    [['--limit', '3'], 'unknown flag'],
    [['--set', 'runtime.colour=red'], 'runtime.colour'],
  ])('ends with 2 for the arguments %j', async (args, said) => {
    const { code, stderr } = await runScriptTests(args, { cwd: folder })
    expect([code, stderr]).toEqual([2, expect.stringContaining(said)])
  })

  it('[O-CLI-1] shows what it takes, with examples', async () => {
    const { code, stdout } = await runScriptTests(['--help'])
    expect(code).toBe(0)
    expect(stdout).toContain('Usage: guildhall test-script [DIR] [FLAGS]')
    expect(stdout).toContain('guildhall test-script ./game')
  })
})
