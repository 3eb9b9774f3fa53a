import { createRequire } from 'node:module'
import { type ScriptFunction, type ScriptHook, scriptApi, scriptHooks } from '@guildhall/contract'
import { expect, it } from 'vitest'
import { renderLuaStub, renderPythonStub } from './guest-stubs.ts'

const names = [
  ...Object.entries<ScriptHook>(scriptHooks),
  ...Object.entries<ScriptFunction>(scriptApi),
].flatMap(([name, { planned }]) => (planned ? [] : [name]))

it('[S-LANG-5] guildhall.lua parses and names every function, hook and constant', async () => {
  const stub = renderLuaStub()
  for (const name of names) expect(stub).toContain(`function guildhall.${name}(`)
  for (const constant of ['node_id', 'revision_id', 'generation', 'tier']) {
    expect(stub).toContain(`---@field ${constant} `)
  }
  const { LuaFactory }: typeof import('wasmoon') = createRequire(import.meta.url)('wasmoon')
  const lua = await new LuaFactory().createEngine()
  expect(() => lua.global.loadString(stub)).not.toThrow()
  lua.global.close()
})

it('[S-LANG-3] [S-LANG-5] guildhall.pyi names every function, hook and constant', () => {
  const stub = renderPythonStub()
  for (const name of names) {
    const [space, member] = name.split('.')
    if (member === undefined) expect(stub).toMatch(new RegExp(`^(async )?def ${space}\\(`, 'm'))
    else expect(stub).toMatch(new RegExp(`^class ${space}:[^]*?    (async )?def ${member}\\(`, 'm'))
  }
  for (const constant of [
    'node_id: str',
    'revision_id: str',
    'generation: int',
    'tier: Literal[',
  ]) {
    expect(stub).toContain(`\n${constant}`)
  }
  // A handler may leave out its last arguments, and a dict stands for a row.
  expect(stub).toContain('def on_message(kind: int, fn: Handler) -> Handler: ...')
  expect(stub).toContain('label: Label | dict[str, Any]')
  expect(stub).toContain('def encode(value: Any) -> bytes:')
  expect(stub).toContain('fn(ctx, body: bytes)')
  expect(stub).toContain('    sender: int\n')
  expect(stub).toContain('fn(dt: int | float, room_id: int | None)')
  expect(stub).toContain('except_: ')
  expect(stub).toContain('as_: ')
  expect(stub).toContain('from_: ')
})
