import { mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { checked } from '@guildhall/contract/checked'
import { expect, expectTypeOf, it } from 'vitest'
import * as z from 'zod'
import { openHarness } from './host.fixture.ts'

/// <reference path="../../guildhall.d.ts" />

const root = join(import.meta.dirname, '../../../..')

const script = `
import { checked } from '@guildhall/contract/checked'
import * as z from 'zod'

const later = z.string().refine(async (text) => text !== 'taken', 'is taken')
const game = checked(guildhall, {
  rpcs: {
    buy: z.object({ item: z.string().max(8), count: z.int().default(1) }),
    none: z.undefined(),
    later,
  },
  kinds: { 100: z.object({ dx: z.number() }) },
})
game.on_rpc('buy', (ctx, { item, count }) => item.repeat(count) + ctx.sender)
game.on_rpc('none', (_ctx, nothing) => String(nothing))
game.on_rpc('later', (_ctx, text) => text)
game.on_message(100, (_ctx, { dx }) => guildhall.broadcast(101, String(dx)))
guildhall.on_rpc('own', () => 'own')`

/** A game whose packages are those of this repository. */
function openChecked() {
  const harness = openHarness({ files: { 'main.ts': script } })
  for (const name of ['@guildhall/contract', 'zod']) {
    const at = join(harness.folder, 'node_modules', name)
    mkdirSync(dirname(at), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), at)
  }
  return harness
}

it('hands over what a validator has looked at, and refuses the rest with what is wrong', async () => {
  const { host, rpc, message, delivered } = openChecked()
  await host.start()
  expect(await rpc('buy', '{"item":"ax","count":2}')).toBe('axax1')
  expect(await rpc('buy', '{"item":"ax"}')).toBe('ax1')
  expect(await rpc('none')).toBe('undefined')
  expect(await rpc('later', '"free"')).toBe('free')
  expect(await rpc('own')).toBe('own')
  const refused = { error: 'what was sent to buy is not valid' }
  for (const sent of ['{"item":1}', '{', '[]', '', '{"item":"much too long"}']) {
    expect(await rpc('buy', sent), sent).toEqual(refused)
  }
  expect(await rpc('later', '"taken"')).toEqual({ error: 'what was sent to later is not valid' })
  expect(await message(100, '{"dx":1.5}')).toBe('ok')
  await message(100, '{"dx":"far"}')
  await message(100, 'nonsense')
  expect(delivered.map(({ text }) => text)).toEqual(['1.5'])
  expect(host.failures().items).toEqual([])
})

type Failure = { text: string; options: { code: string; data: { issues: unknown[] } } }

it('[R-RPC-6] names places and messages, a few of them, in the data of the refusal', () => {
  let failed: Failure | undefined
  const handlers = new Map<string, (ctx: unknown, body: Uint8Array) => unknown>()
  const host = {
    on_rpc: (method: string, fn: (ctx: { sender: number }, body: Uint8Array) => unknown) =>
      void handlers.set(method, fn as (ctx: unknown, body: Uint8Array) => unknown),
    on_message: (_kind: number, _fn: (ctx: { kind: number }, body: Uint8Array) => unknown) => {},
    fail(text: string, options?: unknown): never {
      failed = { text, options } as Failure
      throw new Error(text)
    },
    json: { decode: (body: Uint8Array): unknown => JSON.parse(new TextDecoder().decode(body)) },
  }
  const game = checked(host, { rpcs: { team: z.array(z.object({ id: z.number() })) } })
  game.on_rpc('team', ({ sender }, team) => {
    expectTypeOf(sender).toEqualTypeOf<number>()
    expectTypeOf(team).toEqualTypeOf<{ id: number }[]>()
  })
  // @ts-expect-error there is no such method
  expect(() => game.on_rpc('taem', () => {})).toThrow('no shape is given for taem')
  const wrong = Array.from({ length: 100 }, () => ({ id: 'x'.repeat(1_000) }))
  const body = new TextEncoder().encode(JSON.stringify(wrong))
  expect(() => handlers.get('team')?.({ sender: 1 }, body)).toThrow('team is not valid')
  expect(failed?.options.code).toBe('invalid_payload')
  expect(failed?.options.data.issues).toHaveLength(8)
  expect(failed?.options.data.issues[0]).toMatchObject({ path: '0.id' })
  expect(JSON.stringify(failed?.options.data).length).toBeLessThan(4_096)
})

it('[S-SEL-6] knows contexts and payloads of the script interface', () => {
  const script = (guildhall: Guildhall) => {
    const game = checked(guildhall, { rpcs: { a: z.string() }, kinds: { 100: z.number() } })
    game.on_rpc('a', ({ method, sender }, text) => {
      expectTypeOf(method).toEqualTypeOf<string>()
      expectTypeOf(sender).toEqualTypeOf<number>()
      expectTypeOf(text).toEqualTypeOf<string>()
    })
    game.on_message(100, ({ unreliable }, n) => {
      expectTypeOf(unreliable).toEqualTypeOf<boolean>()
      expectTypeOf(n).toEqualTypeOf<number>()
    })
  }
  expectTypeOf(script).toBeFunction()
})
