import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type EdgeState, type Move, type Pair, step } from './friends.states.ts'

const sides = ['none', 'invited_sent', 'invited_received', 'friend', 'blocked'] as const
const pairs: Pair[] = sides.flatMap((actor) => sides.map((other) => ({ actor, other })))
const mirrored = ({ actor, other }: Pair): Pair => ({ actor: other, other: actor })

/** The rows of the interface: before, what the actor does, and after; undefined is a 409. */
const rows: [before: string, move: Move, after: string | undefined][] = [
  ['none none', 'add', 'invited_sent invited_received'],
  ['invited_sent invited_received', 'add', 'invited_sent invited_received'],
  ['invited_received invited_sent', 'add', 'friend friend'],
  ['friend friend', 'add', 'friend friend'],
  ['blocked none', 'add', undefined],
  ['none blocked', 'add', undefined],
  ['blocked blocked', 'add', undefined],
  ['none none', 'remove', 'none none'],
  ['invited_sent invited_received', 'remove', 'none none'],
  ['invited_received invited_sent', 'remove', 'none none'],
  ['friend friend', 'remove', 'none none'],
  ['blocked none', 'remove', 'none none'],
  ['none blocked', 'remove', 'none none'],
  ['blocked blocked', 'remove', 'none none'],
  ['none none', 'block', 'blocked none'],
  ['invited_sent invited_received', 'block', 'blocked none'],
  ['invited_received invited_sent', 'block', 'blocked none'],
  ['friend friend', 'block', 'blocked none'],
  ['blocked none', 'block', 'blocked none'],
  ['none blocked', 'block', 'blocked blocked'],
  ['blocked blocked', 'block', 'blocked blocked'],
]

const named = (pair: Pair | undefined) => pair && `${pair.actor} ${pair.other}`

function pairOf(name: string): Pair {
  const pair = pairs.find((each) => named(each) === name)
  if (pair === undefined) throw new Error(`there is no pair ${name}`)
  return pair
}

describe('the states of two accounts', () => {
  it.each(rows)('[H-FRD-3] %s, %s: %s', (before, move, after) => {
    expect(named(step(pairOf(before), move))).toBe(after)
  })

  it('[H-FRD-3] the rows have every move from every pair that moves lead to, and no other', () => {
    const reached = new Set(['none none'])
    for (const name of reached) {
      for (const move of ['add', 'remove', 'block'] as const) {
        const after = step(pairOf(name), move)
        for (const pair of after ? [after, mirrored(after)] : []) reached.add(`${named(pair)}`)
      }
    }
    const expected = [...reached].flatMap((name) =>
      ['add', 'remove', 'block'].map((move) => `${name}, ${move}`),
    )
    expect(new Set(rows.map(([before, move]) => `${before}, ${move}`))).toEqual(new Set(expected))
  })

  it('[H-FRD-2] refuses to add exactly where one side has blocked', () => {
    for (const pair of pairs) {
      const hasBlock = pair.actor === 'blocked' || pair.other === 'blocked'
      expect([named(pair), step(pair, 'add') === undefined]).toEqual([named(pair), hasBlock])
    }
  })

  it('[H-FRD-3] makes friends of a whole pair only, whoever begins', () => {
    const partners: Record<EdgeState, EdgeState | 'none'> = {
      invited_sent: 'invited_received',
      invited_received: 'invited_sent',
      friend: 'friend',
      blocked: 'none',
    }
    const moves = fc.array(
      fc.tuple(fc.boolean(), fc.constantFrom('add' as const, 'remove' as const, 'block' as const)),
      { maxLength: 30 },
    )
    fc.assert(
      fc.property(moves, (made) => {
        let pair: Pair = { actor: 'none', other: 'none' }
        for (const [byOther, move] of made) {
          const after = step(byOther ? mirrored(pair) : pair, move)
          if (after !== undefined) pair = byOther ? mirrored(after) : after
          const { actor, other } = pair
          const blocks = [actor, other].filter((side) => side === 'blocked').length
          if (blocks === 2) continue
          if (actor !== 'none') expect([actor, other]).toEqual([actor, partners[actor]])
          else expect(['none', 'blocked']).toContain(other)
        }
      }),
    )
  })
})
