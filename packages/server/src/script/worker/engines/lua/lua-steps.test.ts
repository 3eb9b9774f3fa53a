import { expect, it } from 'vitest'
import { createSystemClock } from '../../../../kernel/clock.ts'
import { findPackage } from '../../../process/engine-packages.ts'
import { createGuest } from '../guest.ts'
import { LuaMachine } from './lua-machine.ts'
import { loadLuaModule } from './lua-module.ts'

it('[S-LIM-1] instructions are few between two looks also when they were quick', async () => {
  let looks = 0
  const clock = createSystemClock()
  const ticks = () => {
    looks += 1
    return 0
  }
  const lua = await loadLuaModule(findPackage('wasmoon') ?? '', 64)
  const machine = new LuaMachine(lua, createGuest(clock), { clock, ticks })
  const { main: L, values } = machine
  const script = 'for n = 1, 100000 do end'
  values.pushText(L, script)
  const name = values.nameAddress(L, '=test')
  lua._luaL_loadbufferx(L, lua._lua_tolstring(L, -1, 0), script.length, name, 0)
  machine.beginSlice(L)
  expect(lua._lua_pcallk(L, 0, 0, 0, 0, 0)).toBe(0)
  expect(looks).toBeGreaterThanOrEqual(100_000 / 64 - 1)
})
