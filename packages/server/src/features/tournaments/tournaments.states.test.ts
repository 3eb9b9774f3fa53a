import { type TournamentState, tournamentStates } from '@guildhall/contract'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Mover, mayMove, takesEntrants } from './tournaments.states.ts'

/** The rows of the interface: from, to, and whose edge it is. Every other pair is nobody's. */
const rows: readonly [from: TournamentState, to: TournamentState, mover: Mover][] = [
  ['draft', 'registration_open', 'operator'],
  ['draft', 'cancelled', 'operator'],
  ['registration_open', 'running', 'operator'],
  ['registration_open', 'cancelled', 'operator'],
  ['running', 'finalizing', 'settlement'],
  ['running', 'cancelled', 'operator'],
  ['finalizing', 'completed', 'settlement'],
]
const movers: readonly Mover[] = ['operator', 'settlement']

describe('the states of a tournament', () => {
  it.each(tournamentStates.flatMap((from) => tournamentStates.map((to) => [from, to] as const)))(
    '[H-TRN-3] [O-TRN-1] %s to %s belongs to whom the interface gives it',
    (from, to) => {
      const owners = rows.filter((row) => row[0] === from && row[1] === to).map((row) => row[2])
      expect(movers.filter((mover) => mayMove(mover, from, to))).toEqual(owners)
    },
  )

  it('[H-TRN-3] every walk ends, and only an operator who cancels ends one without results', () => {
    const choices = fc.array(
      fc.tuple(fc.constantFrom(...movers), fc.constantFrom(...tournamentStates)),
      { maxLength: 40 },
    )
    fc.assert(
      fc.property(choices, (bodies) => {
        const walked: TournamentState[] = ['draft']
        for (const [mover, to] of bodies) {
          if (mayMove(mover, walked.at(-1) ?? 'draft', to)) walked.push(to)
        }
        expect(new Set(walked).size).toBe(walked.length)
        if (walked.includes('completed')) {
          expect(walked).toEqual([
            'draft',
            'registration_open',
            'running',
            'finalizing',
            'completed',
          ])
        }
        if (walked.includes('cancelled')) expect(walked).not.toContain('finalizing')
      }),
    )
  })
})

describe('the registration of a tournament', () => {
  const window = { registration_opens_at_unix_ms: 1000, registration_closes_at_unix_ms: 2000 }

  it.each([
    [999, false],
    [1000, true],
    [1999, true],
    [2000, false],
  ])('[S-API-12] at %i is open: %s', (now, open) => {
    expect(takesEntrants({ state: 'registration_open', ...window }, now)).toBe(open)
  })

  it('[S-API-12] a window without length takes nobody', () => {
    const closed = { registration_opens_at_unix_ms: 5, registration_closes_at_unix_ms: 5 }
    for (const now of [4, 5, 6]) {
      expect(takesEntrants({ state: 'registration_open', ...closed }, now)).toBe(false)
    }
  })

  it.each(tournamentStates.filter((state) => state !== 'registration_open'))(
    '[S-API-12] in state %s takes nobody',
    (state) => {
      expect(takesEntrants({ state, ...window }, 1500)).toBe(false)
    },
  )
})
