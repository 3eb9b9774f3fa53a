import { expect, it } from 'vitest'
import { titleOfName } from './account-words.ts'

it('[H-OPS-1] the title of a name has the id, and what the name does not say', () => {
  const named = { username: 'ana', display_name: null, state: 'active' } as const
  expect(titleOfName('user-1', undefined)).toBe('user-1')
  expect(titleOfName('user-1', named)).toBe('user-1')
  expect(titleOfName('user-1', { ...named, display_name: 'Ana' })).toBe('Ana\nuser-1')
  const banned = { ...named, display_name: 'Ana', state: 'disabled' } as const
  expect(titleOfName('user-1', banned)).toBe('Ana\nThis account is banned\nuser-1')
  const deleted = { ...named, state: 'tombstoned' } as const
  expect(titleOfName('user-1', deleted)).toBe('This account is deleted\nuser-1')
})
