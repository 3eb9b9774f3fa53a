import { expect, it } from 'vitest'
import { scriptHooks } from './hooks.ts'
import { scriptApi } from './index.ts'
import type { ScriptFunction } from './script-api.ts'

/** The frozen shape of the script API: a change here is a change for every game. */
function pinOf([name, row]: [string, ScriptFunction]): string {
  const parameters = Object.entries(row.args).map(([argument, schema]) =>
    schema.safeParse(undefined).success ? `${argument}?` : argument,
  )
  const answer = row.ok === undefined ? '' : ' -> answer'
  const errors = row.errors === undefined ? '' : ` ! ${row.errors.join(' ')}`
  return `${name}(${parameters.join(', ')})${answer} | ${row.tier} ${row.runs}${errors}`
}

it('[S-API-1] the functions of the table are the frozen list', () => {
  expect(Object.entries<ScriptFunction>(scriptApi).map(pinOf)).toMatchSnapshot()
})

it('[S-API-37] of rooms and matches there is no function that opens or closes one', () => {
  const names = Object.keys(scriptApi).filter((name) => /^(room|match)[_.]/.test(name))
  expect(names.toSorted()).toEqual([
    'match.set_result',
    'room_list',
    'room_members',
    'room_remove',
    'room_update',
  ])
})

it('[S-HK-1] the hooks of the table are the frozen list', () => {
  const hooks = Object.entries(scriptHooks).map(([name, { code, form, lane }]) => {
    return `${code} ${name} | ${form} ${lane}`
  })
  expect(hooks).toMatchSnapshot()
})

it('[S-WP-2] no two hooks have one code, and 5 is a timer', () => {
  const codes = Object.values(scriptHooks).map(({ code }) => code)
  expect(new Set(codes).size).toBe(codes.length)
  expect(codes).not.toContain(5)
})

it('[S-API-32] trailing arguments alone may be missing', () => {
  for (const [name, row] of Object.entries<ScriptFunction>(scriptApi)) {
    const optional = Object.values(row.args).map((schema) => schema.safeParse(undefined).success)
    const first = optional.indexOf(true)
    if (first >= 0) expect(optional.slice(first), name).not.toContain(false)
  }
})
