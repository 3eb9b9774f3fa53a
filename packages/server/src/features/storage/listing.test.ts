import type { JsonObject } from '@guildhall/contract'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { type ScriptCall, scriptOf } from '../../testing/script-calls.fixture.ts'

const invalid = { name: 'Failure', code: 'invalid_request' }

type Page = { items: { user_id: string | null; key: string; value: JsonObject }[]; next: string }

describe.each(testBackends)('objects that a script lists on $name', (backend) => {
  let scenario: Scenario
  let call: ScriptCall
  beforeAll(async () => {
    scenario = await openScenario(backend)
    call = scriptOf(scenario.api)
    return () => scenario.dispose()
  })
  const list = async (owner: string | null, collection: string, options?: object) =>
    (await call('storage_list', owner, collection, ...(options ? [options] : []))) as Page
  const keysOf = ({ items }: Page) => items.map(({ key }) => key)
  const write = (owner: string | null, collection: string, key: string, more: object = {}) =>
    call('storage_write', owner, collection, key, { of: key }, more)

  it('[S-API-38] come by key in byte order, of this owner and collection alone', async () => {
    const keys = ['b', 'a', 'é', '\u{10ffff}x', '\ufffd', 'A', 'a b']
    for (const key of keys) await write('ana', 'bag', key)
    await write(null, 'bag', 'system')
    await write('ben', 'bag', 'foreign')
    await write('ana', 'other', 'elsewhere')
    const page = await list('ana', 'bag')
    const byBytes = keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    expect([keysOf(page), page.next]).toEqual([byBytes, null])
    expect(page.items[0]).toEqual({
      user_id: 'ana',
      collection: 'bag',
      key: 'A',
      value: { of: 'A' },
      version: expect.stringMatching(/^[0-9a-f]{16}$/),
      read_permission: 1,
      write_permission: 1,
    })
    expect(keysOf(await list(null, 'bag'))).toEqual(['system'])
    expect(await list('ana', 'nothing')).toEqual({ items: [], next: null })
  })

  it('[S-API-38] come in pages, each from where the one before ended', async () => {
    const keys = Array.from({ length: 205 }, (_, at) => `k${String(at).padStart(3, '0')}`)
    const writes = keys.map((key) => {
      return { op: 'write', owner: 'many', collection: 'bag', key, value: {} }
    })
    for (let at = 0; at < writes.length; at += 100) {
      await call('storage_write_many', writes.slice(at, at + 100))
    }
    expect(keysOf(await list('many', 'bag'))).toEqual(keys.slice(0, 50))
    const most = await list('many', 'bag', { limit: 1000 })
    expect(keysOf(most)).toEqual(keys.slice(0, 200))
    // What comes and goes meanwhile moves nothing else.
    await call('storage_delete', 'many', 'bag', 'k199')
    await write('many', 'bag', 'k150b')
    const rest = await list('many', 'bag', { after: most.next, limit: 5 })
    expect([keysOf(rest), rest.next]).toEqual([keys.slice(200), null])
    expect(keysOf(await list('many', 'bag', { limit: 0 }))).toEqual(['k000'])
    for (const [owner, collection, options] of [
      ['many', 'bag', { after: `${most.next}x` }],
      ['many', 'bag', { after: most.next, prefix: 'k' }],
      ['many', 'other', { after: most.next }],
      ['other', 'bag', { after: most.next }],
      [null, 'bag', { after: most.next }],
      ['many', 'bag', { limit: -1 }],
      ['many', 'bag', { limit: 1.5 }],
      ['many', 'bag', { prefix: 'a\u0000' }],
      ['many', 'bag', { prefix: '\ud800' }],
      ['many', 'bag', { prefix: 'x'.repeat(129) }],
      ['many', 'bag', { as: '' }],
      ['many', 'bag', { cursor: most.next }],
      ['', 'bag', {}],
      ['many', '', {}],
    ] as const) {
      const asked = call('storage_list', owner, collection, options)
      await expect(asked, JSON.stringify(options)).rejects.toMatchObject(invalid)
    }
  })

  it('[S-API-38] are those whose keys begin with the prefix, whatever it is', async () => {
    const letters = fc.constantFrom('a', 'b', '%', '_', 'é', '\uffff', '\u{10ffff}')
    const word = (minLength: number) =>
      fc.array(letters, { minLength, maxLength: 4 }).map((each) => each.join(''))
    let run = 0
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(word(1), { maxLength: 12 }),
        word(0),
        async (keys, prefix) => {
          run += 1
          const collection = `run ${run}`
          const ops = keys.map((key) => ({ op: 'write', owner: null, collection, key, value: {} }))
          if (ops.length > 0) await call('storage_write_many', ops)
          const seen: string[] = []
          for (let after: string | undefined; ; ) {
            const page = await list(null, collection, { prefix, limit: 3, ...(after && { after }) })
            seen.push(...keysOf(page))
            if (page.next === null) break
            after = page.next
          }
          const wanted = keys
            .filter((key) => key.startsWith(prefix))
            .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
          expect(seen).toEqual(wanted)
        },
      ),
      { numRuns: 40 },
    )
  })

  it('[S-API-38] end a page where their values would pass 4 MiB; one is always given', async () => {
    const filler = 'x'.repeat(524_288 - 100)
    for (let at = 0; at < 9; at += 1) {
      await call('storage_write', 'large', 'bag', `k${at}`, { filler })
    }
    const first = await list('large', 'bag')
    expect(keysOf(first)).toEqual(['k0', 'k1', 'k2', 'k3', 'k4', 'k5', 'k6', 'k7'])
    expect(keysOf(await list('large', 'bag', { after: first.next }))).toEqual(['k8'])
  })

  it('[S-API-38] [S-ST-4] leave out what the user may not read, and go on behind it', async () => {
    for (const read_permission of [0, 1, 2]) {
      await write('owner', 'rights', `r${read_permission}`, { read_permission })
    }
    const readable = async (as: string) => keysOf(await list('owner', 'rights', { as }))
    expect(await readable('owner')).toEqual(['r1', 'r2'])
    expect(await readable('other')).toEqual(['r2'])
    const hidden = await list('owner', 'rights', { as: 'other', limit: 1 })
    expect(hidden).toEqual({ items: [], next: expect.any(String) })
    const behind = await list('owner', 'rights', { as: 'other', after: hidden.next })
    expect(keysOf(behind)).toEqual(['r2'])
  })
})
