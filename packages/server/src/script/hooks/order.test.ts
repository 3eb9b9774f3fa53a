import { describe, expect, it } from 'vitest'
import { player, startHarness } from '../host.fixture.ts'

const script = (text: string, config = {}) => startHarness({ files: { 'main.ts': text }, config })

describe('order', () => {
  it('[S-INV-2] runs join, messages and leave of a participant one after the other', async () => {
    const { rpc, host, until } = await script(`
      const seen: string[] = []
      const slow = async (name: string) => {
        seen.push(name + ' begins')
        await guildhall.session_list()
        await new Promise((resolve) => setTimeout(resolve, 1))
        seen.push(name + ' ends')
      }
      guildhall.on_join((ctx) => slow('join ' + ctx.sender))
      guildhall.on_message(100, (ctx, body) => slow('message ' + ctx.sender + ' ' + body[0]))
      guildhall.on_leave((ctx) => slow('leave ' + ctx.sender))
      guildhall.on_rpc('early', (ctx) => { seen.push('rpc ' + ctx.sender) })
      guildhall.on_rpc('seen', () => seen)
    `)
    for (const participant of [1, 2, 3]) {
      host.game.join(player(participant))
      void host.game.rpc(player(participant), 'early', new Uint8Array())
      for (let n = 0; n < 4; n += 1) {
        const message = { kind: 100, body: new Uint8Array([n]), unreliable: false }
        host.game.message(player(participant), message, () => {})
      }
      host.game.leave(player(participant))
    }
    await until(() => host.metrics().script_calls_total === 21)
    const seen: string[] = JSON.parse(String(await rpc('seen', '', player(9))))
    for (const p of [1, 2, 3]) {
      const lane = ['join', 'message 0', 'message 1', 'message 2', 'message 3', 'leave'].flatMap(
        (name) => {
          const [hook, n] = name.split(' ')
          const full = `${hook} ${p}${n === undefined ? '' : ` ${n}`}`
          return [`${full} begins`, `${full} ends`]
        },
      )
      const own = seen.filter((line) => line.split(' ')[1] === String(p))
      expect(own.filter((line) => !line.startsWith('rpc'))).toEqual(lane)
      expect(own.indexOf(`rpc ${p}`)).toBeGreaterThan(own.indexOf(`join ${p} ends`))
    }
    expect(seen.indexOf('join 2 begins')).toBeLessThan(seen.indexOf('leave 1 begins'))
  })

  it('[S-INV-2] lets RPCs of a participant overlap once it has joined', async () => {
    const { rpc, host } = await script(`
      let release = () => {}
      guildhall.on_join(() => {})
      guildhall.on_rpc('wait', () => new Promise<void>((resolve) => { release = resolve }))
      guildhall.on_rpc('release', () => release())
    `)
    host.game.join(player(1))
    const waiting = rpc('wait')
    expect(await rpc('release')).toBe('')
    expect(await waiting).toBe('')
  })
})

describe('an invocation', () => {
  it('[S-INV-1] [S-INV-3] lets others run where it suspends, and only there', async () => {
    const { rpc } = await script(`
      let balance = 0
      const busy = () => { const end = Date.now() + 5; while (Date.now() < end); }
      guildhall.on_rpc('whole', () => { const seen = balance; busy(); balance = seen + 1 })
      guildhall.on_rpc('suspends', async () => {
        const seen = balance
        await guildhall.session_list()
        balance = seen + 1
      })
      guildhall.on_rpc('take', () => { const seen = balance; balance = 0; return seen })
    `)
    const ten = (method: string) => Promise.all(Array.from({ length: 10 }, () => rpc(method)))
    await ten('whole')
    expect(await rpc('take')).toBe('10')
    // All have read before the first of them writes.
    await ten('suspends')
    expect(await rpc('take')).toBe('1')
  })

  it('[S-INV-5] without a sender has 0 and null for it', async () => {
    const { host, rpc, until } = await script(`
      const seen: unknown[] = []
      guildhall.on_match_created((ctx) => { seen.push(['sender' in ctx, 'user_id' in ctx]) })
      guildhall.on_rpc('who', ({ sender, user_id, origin }) => [...seen, sender, user_id, origin])
    `)
    const match = { room_id: 1, match_id: 'mt1-a', name: null, map: '', mode: '', max_players: 0 }
    const created = { ...match, open: true, participants: 0, event: 'created', binding: null }
    let isSettled = false
    host.game.match(created as Parameters<typeof host.game.match>[0], () => {
      isSettled = true
    })
    await until(() => isSettled)
    expect(await host.consoleRpc('who', '')).toEqual({
      ok: true,
      reply: '[[false,false],0,null,"console"]',
    })
    expect(await rpc('who')).toBe('[[false,false],1,"user-1","player"]')
  })
})

describe('timers and lists', () => {
  it('[S-API-9] [S-INV-5] runs a timer once, without sender and room, unless it was cancelled', async () => {
    const { rpc, delivered, until } = await script(`
      guildhall.on_rpc('go', () => {
        guildhall.after(1, () => { guildhall.broadcast(100, 'timer'); throw new Error('x') })
        const cancelled = guildhall.after(1, () => guildhall.broadcast(100, 'never'))
        const { cancel } = guildhall
        const flags = [cancel(cancelled), cancel(cancelled), cancel(99)]
        guildhall.after(2, () => guildhall.broadcast(100, 'second'))
        return flags
      })
    `)
    expect(await rpc('go', '', player(1, { room_id: 4 }))).toBe('[true,false,false]')
    await until(() => delivered.length === 1)
    expect(delivered).toMatchObject([{ text: 'second', sender: 0, room_id: null }])
  })

  it('[S-LIM-6] allows 1,000 timers at a time', async () => {
    const { rpc } = await script(`
      guildhall.on_rpc('go', () => {
        for (let n = 0; n < 1000; n++) guildhall.after(86400000, () => {})
        try { guildhall.after(1, () => {}) } catch (error) { return error.code }
      })
    `)
    expect(await rpc('go')).toBe('limit_exceeded')
  })

  it('[S-API-7] lists the sessions of the node', async () => {
    const { rpc, sessions } = await script(`guildhall.on_rpc('go', () => guildhall.session_list())`)
    sessions.push({ participant: 4, user_id: 'u', username: 'n', room_id: 2 })
    expect(JSON.parse(String(await rpc('go')))).toEqual(sessions)
  })

  it('[S-API-4] takes commands from the script’s own timers, for everybody', async () => {
    const { rpc, delivered, until } = await script(`
      guildhall.on_rpc('go', () => { setTimeout(() => guildhall.broadcast(100, 'own'), 1) })
    `)
    await rpc('go', '', player(1, { room_id: 4 }))
    await until(() => delivered.length === 1)
    expect(delivered).toMatchObject([{ text: 'own', sender: 0, room_id: null }])
  })

  it('[S-API-9] traces to the process log at once', async () => {
    const { rpc, log } = await script(
      `guildhall.on_rpc('go', () => { guildhall.trace('here', 'warn'); throw new Error('x') })`,
    )
    await rpc('go')
    expect(log.lines).toContainEqual(expect.objectContaining({ level: 'warn', message: 'here' }))
  })
})
