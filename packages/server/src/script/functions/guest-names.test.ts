import { expect, it } from 'vitest'
import { nameIn } from './guest-names.ts'

it('[S-LANG-3] gives a name that a language reserves an underscore at its end', () => {
  expect(['except', 'as', 'from', 'kind'].map((name) => nameIn('python', name))).toEqual([
    'except_',
    'as_',
    'from_',
    'kind',
  ])
  expect(['end', 'except'].map((name) => nameIn('lua', name))).toEqual(['end_', 'except'])
})
