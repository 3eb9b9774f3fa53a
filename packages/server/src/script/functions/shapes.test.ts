import { type ScriptFunction, scriptApi, scriptHooks } from '@guildhall/contract'
import { describe, expect, it } from 'vitest'
import { rowShape, shapeOf } from './shapes.ts'

const shapes = Object.entries<ScriptFunction>(scriptApi).map(([name, row]) => ({
  name,
  row,
  shape: rowShape(row),
}))
const shapeIn = (name: keyof typeof scriptApi, argument: string) =>
  rowShape(scriptApi[name]).args.find((each) => each.name === argument)?.shape

describe('shapes of the script API', () => {
  it.each(shapes)('[S-LANG-4] are known for $name', ({ row, shape }) => {
    expect(shape.args.map(({ name }) => name)).toEqual(Object.keys(row.args))
    expect(shape.ok === undefined).toBe(row.ok === undefined)
  })

  it('[S-LANG-4] are known for what handlers are called with', () => {
    for (const hook of Object.values(scriptHooks)) {
      for (const schema of Object.values(hook.args))
        expect(shapeOf(schema).kind).toBeTypeOf('string')
    }
    const { ctx } = scriptHooks.on_room_create.args
    expect(shapeOf(ctx)).toMatchObject({
      kind: 'object',
      members: { user_id: { kind: 'text', takesNull: true }, options: { kind: 'json' } },
    })
    expect(shapeOf(scriptHooks.on_message.args.body)).toMatchObject({ kind: 'bytes' })
  })

  it('[S-LANG-4] separate bytes from text', () => {
    expect(shapeIn('broadcast', 'body')).toMatchObject({ kind: 'bytes', mayBeAbsent: false })
    expect(shapeIn('json.decode', 'body')).toMatchObject({ kind: 'bytes' })
    expect(shapeIn('trace', 'message')).toMatchObject({ kind: 'text' })
    expect(rowShape(scriptApi.pack_u64).ok).toMatchObject({ kind: 'bytes' })
  })

  it('[S-LANG-1] [S-LANG-4] separate free JSON, whose nulls are its own, from declared members', () => {
    expect(shapeIn('storage_write', 'value')).toMatchObject({ kind: 'json' })
    expect(shapeIn('storage_write', 'owner')).toMatchObject({ kind: 'text', takesNull: true })
    expect(rowShape(scriptApi.storage_read).ok).toMatchObject({
      kind: 'object',
      takesNull: true,
      members: { value: { kind: 'json' }, version: { kind: 'text', takesNull: false } },
    })
    expect(shapeIn('transact', 'ops')).toMatchObject({
      kind: 'list',
      each: { kind: 'one of', options: [{ members: { delta: { kind: 'int64' } } }, {}, {}, {}] },
    })
  })

  it('[S-API-2] separate 64-bit integers and other integers from numbers', () => {
    expect(shapeIn('wallet.adjust', 'delta')).toMatchObject({ kind: 'int64' })
    expect(rowShape(scriptApi['wallet.get']).ok).toMatchObject({
      kind: 'record',
      each: { kind: 'int64' },
    })
    expect(shapeIn('after', 'delay_ms')).toMatchObject({ kind: 'integer' })
    expect(shapeIn('after', 'fn')).toMatchObject({ kind: 'function' })
  })

  it('say which functions take options by name', () => {
    const withOptions = shapes.filter(({ shape }) => shape.hasOptions).map(({ name }) => name)
    expect(withOptions).toContain('broadcast')
    expect(withOptions).toContain('wallet.adjust')
    expect(withOptions).not.toContain('http.fetch')
    const options = shapeIn('wallet.adjust', 'options')
    expect(options).toMatchObject({ kind: 'object', mayBeAbsent: true })
  })
})
