/// <reference path="../../guildhall.d.ts" />

import { expect, expectTypeOf, it } from 'vitest'
import { openGame } from './open-game.ts'

type Declared = typeof import('guildhall/test')
type Game = Awaited<ReturnType<typeof openGame>>
type DeclaredGame = Awaited<ReturnType<Declared['openGame']>>

type Console = Awaited<ReturnType<Game['console']>>
type DeclaredConsole = Awaited<ReturnType<DeclaredGame['console']>>

/** What the routes of a console take. */
type Asked<C> = {
  [S in keyof C]: {
    [R in keyof C[S]]: C[S][R] extends (input: infer Input) => unknown
      ? (input: Input) => unknown
      : never
  }
}

/** A game with types of its own. */
type Cards = {
  rpcs: { draw: { payload: { count: number }; reply: { cards: string[] } } }
  kinds: { 100: { up: { card: string } }; 101: { down: { turn: number } } }
  rooms: { table: { state: { turn: number }; own: string[] } }
}

// In all of these it is the compiler that looks.

it('is declared to editors as it is', () => {
  expectTypeOf<Omit<Game, 'console'>>().toExtend<Omit<DeclaredGame, 'console'>>()
  const asked = (console: Asked<Console>): Asked<DeclaredConsole> => console
  expect(asked).toBeTypeOf('function')
})

it('knows the methods and kinds of a game that has types', () => {
  type Player = import('guildhall/test').TestPlayer<Cards>
  const play = async (player: Player) => {
    expectTypeOf(await player.rpc('draw', { count: 2 })).toEqualTypeOf<{ cards: string[] }>()
    expectTypeOf((await player.message(101)).json()).toEqualTypeOf<{ turn: number }>()
    player.send(100, { card: 'ace' })
    expectTypeOf(player.state).toEqualTypeOf<{ readonly turn: number } | undefined>()
    expectTypeOf(player.own).toEqualTypeOf<readonly string[] | undefined>()
    // @ts-expect-error a card is missing
    player.send(100, {})
    // @ts-expect-error there is no such method
    await player.rpc('shuffle')
  }
  expectTypeOf(play).toBeFunction()
})

it('says nothing about the replies of a game without types', () => {
  type Player = Awaited<ReturnType<DeclaredGame['signIn']>>
  expectTypeOf<Awaited<ReturnType<Player['rpc']>>>().toBeUnknown()
  expectTypeOf<Player['connection']>().not.toBeAny()
  expectTypeOf<DeclaredConsole>().not.toBeAny()
})

it('opens no game in a process that the command did not start', async () => {
  await expect(openGame({ after() {} })).rejects.toThrow('guildhall test-script')
})
