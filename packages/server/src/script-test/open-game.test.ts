/// <reference path="../../guildhall.d.ts" />

import { expect, it } from 'vitest'
import { openGame } from './open-game.ts'

type Declared = typeof import('guildhall/test')

it('is declared to editors as it is', () => {
  // The compiler is what looks.
  const declared: Declared['openGame'] = openGame
  expect(declared).toBe(openGame)
})

it('opens no game in a process that the command did not start', async () => {
  await expect(openGame({ after() {} })).rejects.toThrow('guildhall test-script')
})
