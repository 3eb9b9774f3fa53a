import { type GroupRole, groupRoles } from '@guildhall/contract'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ladder, type Move, needsAnotherSuperadmin, type Outcome, step } from './groups.states.ts'

const moves: readonly Move[] = ['promote', 'demote', 'kick']

/** The ladder of the interface, row by row. */
const expected: [role: GroupRole, move: Move, isLastSuperadmin: boolean, outcome: Outcome][] = [
  ['member', 'promote', false, { to: 'admin' }],
  ['member', 'demote', false, { refused: 'already member' }],
  ['member', 'kick', false, { to: 'gone' }],
  ['admin', 'promote', false, { to: 'superadmin' }],
  ['admin', 'demote', false, { to: 'member' }],
  ['admin', 'kick', false, { to: 'gone' }],
  ['superadmin', 'promote', false, { refused: 'already superadmin' }],
  ['superadmin', 'promote', true, { refused: 'already superadmin' }],
  ['superadmin', 'demote', false, { to: 'admin' }],
  ['superadmin', 'demote', true, { refused: 'last superadmin' }],
  ['superadmin', 'kick', false, { to: 'gone' }],
  ['superadmin', 'kick', true, { refused: 'last superadmin' }],
]

describe('the ladder of a group', () => {
  it.each(expected)('[H-GRP-5] %s, %s, the last superadmin: %s', (role, move, last, outcome) => {
    expect(step({ role, isLastSuperadmin: last }, move)).toEqual(outcome)
  })

  it('[H-GRP-5] has an edge for every move of every role, and those of the interface only', () => {
    const edges = groupRoles.flatMap((role) => moves.map((move) => `${role} ${move}`))
    expect(new Set(expected.map(([role, move]) => `${role} ${move}`))).toEqual(new Set(edges))
    expect(Object.keys(ladder)).toEqual([...groupRoles])
    for (const role of groupRoles) expect(Object.keys(ladder[role])).toEqual(moves)
  })

  it('[H-GRP-5] asks for other superadmins exactly where they decide', () => {
    for (const role of groupRoles) {
      for (const move of moves) {
        const [alone, among] = [true, false].map((isLastSuperadmin) =>
          JSON.stringify(step({ role, isLastSuperadmin }, move)),
        )
        expect([role, move, needsAnotherSuperadmin(role, move)]).toEqual([
          role,
          move,
          alone !== among,
        ])
      }
    }
  })

  it('[H-GRP-5] never leaves a group without a superadmin, whatever is done in whatever order', () => {
    const member = fc.nat(4)
    const move = fc.constantFrom(...moves)
    fc.assert(
      fc.property(fc.array(fc.tuple(member, move), { maxLength: 60 }), (done) => {
        const group = new Map<number, GroupRole>(
          [0, 1, 2, 3, 4].map((each) => [each, each === 0 ? 'superadmin' : 'member']),
        )
        for (const [who, move] of done) {
          const role = group.get(who)
          if (role === undefined) continue
          const superadmins = [...group.values()].filter((each) => each === 'superadmin').length
          const isLastSuperadmin = role === 'superadmin' && superadmins === 1
          const outcome = step({ role, isLastSuperadmin }, move)
          if ('refused' in outcome) continue
          if (outcome.to === 'gone') group.delete(who)
          else group.set(who, outcome.to)
          expect([...group.values()]).toContain('superadmin')
        }
      }),
    )
  })
})
