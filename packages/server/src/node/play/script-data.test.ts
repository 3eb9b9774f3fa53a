import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { statement } from '../../database/statement.ts'
import { testBackends } from '../../database/testing/backends.ts'
import { openOperator } from '../../testing/operator.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { openScripted, type Scripted } from '../../testing/scripted.fixture.ts'

const indexes = JSON.stringify([{ name: 'rich', collection: 'purses', fields: ['gold'] }])

const killOthers = statement({
  name: 'tests.kill-others',
  text: `SELECT count(pg_terminate_backend(pid)) AS killed FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  row: { killed: 'integer' },
})

const run = { signal: new AbortController().signal, progress() {} }

/** Calls whatever is asked for by its name; a refusal is what the script reads of it. */
const anything = `
  const read = (body) => JSON.parse(new TextDecoder().decode(body))
  const find = (name) => name.split('.').reduce((space, member) => space[member], guildhall)
  guildhall.on_rpc('call', async (ctx, body) => {
    const [name, ...args] = read(body)
    try {
      return { ok: (await find(name)(...args)) ?? null }
    } catch (error) {
      const { code, index, message } = error
      return { code, index, message, isError: error instanceof Error }
    }
  })
`

const filtering = `
  guildhall.register_storage_index_filter('rich', ({ user_id, collection, key, value }) => {
    if (key === 'throws') throw new Error('on purpose')
    if (key === 'promises') return Promise.resolve(true)
    if (key === 'counts') return 1
    if (key === 'loops') for (;;);
    return value.gold > 10 && collection === 'purses'
  })
`

describe.each(testBackends)('a script and its data on $name', (backend) => {
  /** What the node does before and after it asks the database, which is any. */
  const onFile = it.runIf(backend.name === 'sqlite')
  let scenario: Scenario
  const open: Scripted[] = []
  beforeEach(async () => {
    scenario = await openScenario(backend, { 'storage.indexes': indexes })
    await scenario.api.features.storage.indexes.keep(run)
  })
  afterEach(async () => {
    for (const each of open.splice(0)) await each.close()
    await scenario.dispose()
  })
  const script = async (text: string) => {
    const scripted = await openScripted(scenario.api, anything + text)
    open.push(scripted)
    return scripted
  }
  const caller = ({ rpc }: Scripted) => {
    return (name: string, ...args: unknown[]) => rpc('call', [name, ...args])
  }
  const keysOf = async (call: ReturnType<typeof caller>) => {
    const answer = Object(await call('storage_index_query', 'rich', {})).ok
    return answer.items.map(({ key }: { key: string }) => key)
  }

  it('[S-API-1] [S-API-22] reads refusals with their code, and which operation it was', async () => {
    const call = caller(await script(''))
    const { user_id } = await scenario.signUp()
    const booking = { op: 'wallet', user_id, currency: 'gold', delta: 5 }
    const answer = await call('transact', [booking, { ...booking, delta: -6 }])
    expect(answer).toMatchObject({ code: 'conflict', index: 1, isError: true })
    expect(await call('wallet.adjust', 'nobody', 'gold', 1)).toMatchObject({ code: 'not_found' })
    expect(await call('wallet.adjust', user_id, 'gold', 0)).toMatchObject({
      code: 'invalid_argument',
    })
    const wrong = [booking, { ...booking, delta: 0 }]
    expect(await call('transact', wrong)).toMatchObject({ code: 'invalid_argument', index: 1 })
    const foreign = ['storage_write', 'other', 'bag', 'k', {}, { as: user_id }]
    expect(await call(...(foreign as [string]))).toMatchObject({ code: 'forbidden' })
    expect(await call('transact', [booking])).toMatchObject({
      ok: { replayed: false, results: [{ balance: 5 }] },
    })
  })

  it('[S-API-3] lets each call stand by itself, and asks nobody who the player is', async () => {
    const { rpc } = await script(`
      guildhall.on_rpc('two', async (ctx, body) => {
        const owner = new TextDecoder().decode(body).slice(1, -1)
        await guildhall.storage_write(owner, 'bag', 'first', { by: ctx.user_id })
        await guildhall.storage_write(owner, 'bag', 'first', { by: 'again' }, { version: '' })
      })`)
    const [ana, ben] = [await scenario.signUp(), await scenario.signUp()]
    await expect(rpc('two', ben.user_id, ana.user_id)).rejects.toThrow('RPC handler error')
    const stored = await scenario.rowsOf('storage_objects', "collection = 'bag'")
    expect(stored).toMatchObject([{ user_id: ben.user_id, key: 'first' }])
    expect(String(stored[0]?.value)).toContain(ana.user_id)
  })

  onFile(
    '[S-IX-4] asks its filter before a write, and refuses one that the filter fails at',
    async () => {
      const scripted = await script(filtering)
      const call = caller(scripted)
      const write = (key: string, gold: number) =>
        call('storage_write', null, 'purses', key, { gold })
      expect(await write('poor', 10)).toMatchObject({ ok: {} })
      expect(await write('rich', 11)).toMatchObject({ ok: {} })
      for (const key of ['throws', 'promises', 'counts', 'loops']) {
        expect(await write(key, 99), key).toMatchObject({ code: 'conflict' })
        expect(await call('storage_read', null, 'purses', key)).toEqual({ ok: null })
      }
      const two = [
        { op: 'write', owner: null, collection: 'purses', key: 'fine', value: { gold: 50 } },
        { op: 'write', owner: null, collection: 'purses', key: 'throws', value: { gold: 50 } },
      ]
      expect(await call('transact', two)).toMatchObject({ code: 'conflict', index: 1 })
      expect(await call('storage_write_many', two)).toMatchObject({ code: 'conflict', index: 1 })
      expect(await keysOf(call)).toEqual(['rich'])
      expect(await call('transact', two.slice(0, 1))).toMatchObject({ ok: { replayed: false } })
      expect(await keysOf(call)).toEqual(['fine', 'rich'])
    },
  )

  onFile('[S-API-32] reads that an index is not declared', async () => {
    const call = caller(await script(''))
    expect(await call('storage_index_query', 'unknown', {})).toMatchObject({
      code: 'not_found',
      message: 'storage_index_query: no index of this name is declared in storage.indexes',
    })
  })

  onFile(
    '[S-IX-4] keeps what operators write out of the index where the filter fails',
    async () => {
      const call = caller(await script(filtering))
      const operator = await openOperator(scenario.api)
      const put = (key: string, gold: number) =>
        operator.send('PUT', `/storage/purses/${key}`, { value: { gold } })
      for (const key of ['throws', 'operators']) expect((await put(key, 50)).status).toBe(200)
      expect(await keysOf(call)).toEqual(['operators'])
      const warnings = scenario.api.log.lines.filter(({ level }) => level === 'warn')
      expect(warnings.map(({ message }) => message)).toContainEqual(
        expect.stringContaining('filter of an index failed'),
      )
    },
  )

  it('[S-IX-5] judges what was written while no such script served', async () => {
    const first = await script(filtering)
    await caller(first)('storage_write', null, 'purses', 'early', { gold: 20 })
    await first.host.stop()
    const without = caller(await script(''))
    for (const [key, gold] of [
      ['waiting', 30],
      ['too poor', 1],
    ]) {
      expect(await without('storage_write', null, 'purses', key, { gold })).toMatchObject({
        ok: {},
      })
    }
    expect(await keysOf(without)).toEqual(['early'])
    const second = caller(await script(filtering))
    await scenario.api.features.storage.indexes.keep(run)
    expect(await keysOf(second)).toEqual(['early', 'waiting'])
  })

  onFile('[S-IX-4] reports a filter for an index that is not declared', async () => {
    const { log } = await script("guildhall.register_storage_index_filter('unknown', () => true)")
    expect(log.lines).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        fields: expect.objectContaining({ index: 'unknown' }),
      }),
    )
  })

  it('[S-REC-5] [S-API-23] leaves nothing half done when its process is killed between calls', async () => {
    const { user_id } = await scenario.signUp()
    const { rpc, host } = await script(`
      const buy = (user_id, key) => guildhall.transact([
        { op: 'wallet', user_id, currency: 'gold', delta: 1, reason: key },
        { op: 'write', owner: user_id, collection: 'bought', key, value: {} },
      ], { idempotency_key: key })
      guildhall.on_rpc('die', async (ctx) => {
        await buy(ctx.user_id, 'answered')
        const open = buy(ctx.user_id, 'open')
        await guildhall.wallet.get(ctx.user_id)
        process.kill(process.pid, 'SIGKILL')
        await guildhall.storage_write(null, 'bought', 'after', {})
      })
      guildhall.on_rpc('again', async (ctx) => {
        const first = await buy(ctx.user_id, 'answered')
        await buy(ctx.user_id, 'open')
        return first.replayed
      })`)
    await expect(rpc('die', null, user_id)).rejects.toThrow('RPC runtime not available')
    await expect.poll(() => host.describe().readiness.state).toBe('ready')
    expect(await rpc('again', null, user_id)).toBe(true)
    const booked = await scenario.rowsOf('wallet_ledger')
    expect(booked.map(({ reason }) => reason).sort()).toEqual(['answered', 'open'])
    const stored = await scenario.rowsOf('storage_objects')
    expect(stored.map(({ key }) => key).sort()).toEqual(['answered', 'open'])
  })

  onFile('[S-API-17] [R-REV-1] goes on in a handler that bans its own caller', async () => {
    const { rpc, host } = await script(`
      guildhall.on_rpc('ban', async (ctx) => {
        const { state } = await guildhall.accounts.ban(ctx.user_id)
        const { display_name } = await guildhall.accounts.update(ctx.user_id, { display_name: 'x' })
        return { state, display_name }
      })`)
    const { user_id, token } = await scenario.signUp()
    expect(await rpc('ban', null, user_id)).toEqual({ state: 'disabled', display_name: 'x' })
    expect(scenario.api.revoked).toHaveLength(1)
    expect((await scenario.api.call('GET', '/v1/account', { token })).status).toBe(401)
    expect(host.describe().attached).toBe(true)
    const audit = await scenario.rowsOf(
      backend.name === 'in-memory' ? 'accounts' : 'audit_unsealed',
    )
    expect(audit.length).toBeGreaterThan(0)
  })

  it.runIf(backend.name === 'postgres')(
    '[S-API-23] [O-TX-4] loses no transaction and halves none while connections die',
    async () => {
      const call = caller(await script(''))
      const { user_id } = await scenario.signUp()
      const buy = (key: string) => [
        [
          { op: 'wallet', user_id, currency: 'gold', delta: 1, reason: key },
          { op: 'write', owner: user_id, collection: 'bought', key, value: { key } },
        ],
        { idempotency_key: key },
      ]
      const keys = Array.from({ length: 120 }, () => randomUUID())
      let over = false
      const killing = (async () => {
        while (!over) {
          await scenario.db.get(killOthers, {}).catch(() => {})
          await new Promise((resolve) => setTimeout(resolve, 15))
        }
      })()
      const first = await Promise.all(keys.map((key) => call('transact', ...buy(key))))
      over = true
      await killing
      for (const answer of first) {
        const { ok, code } = Object(answer)
        expect(ok !== undefined || code === 'unavailable', JSON.stringify(answer)).toBe(true)
      }
      for (const [at, key] of keys.entries()) {
        const again = Object(await call('transact', ...buy(key))).ok
        // What was answered is there, and a repeat answers the same.
        const seen = Object(first[at]).ok
        if (seen) expect(again).toEqual({ ...seen, replayed: true })
      }
      const booked = await scenario.rowsOf('wallet_ledger', `user_id = '${user_id}'`)
      expect(booked.map(({ reason }) => reason).sort()).toEqual(keys.toSorted())
      const stored = await scenario.rowsOf('storage_objects', "collection = 'bought'")
      expect(stored).toHaveLength(keys.length)
    },
  )
})
