import { tournamentStates } from '@guildhall/contract'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Transaction } from '../../database/database.ts'
import { testBackends } from '../../database/testing/backends.ts'
import { bySystem, type Mutate } from '../../kernel/mutation.ts'
import { type Operator, openViewer, viewerKeys } from '../../testing/operator.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import {
  backgroundOf,
  endedUnixMs,
  openTournamentOperator,
  type TournamentOperator,
  tournamentIn,
} from './tournaments.fixture.ts'
import { createTournaments } from './tournaments.service.ts'

const bytes128 = '🏆'.repeat(32)
const last = Number.MAX_SAFE_INTEGER
const conflict = (message: string) => [409, { code: 'conflict', message }]
const illegal = conflict('the tournament cannot go to this state from its present one')
const exists = conflict('a tournament of this id exists')
const schedule = {
  registration_opens_at_unix_ms: 1,
  registration_closes_at_unix_ms: 2,
  starts_at_unix_ms: 2,
  ends_at_unix_ms: 3,
}
const cup = { id: 'x', leaderboard_id: 'y', ...schedule }

describe.each(testBackends)('tournaments on $name', (backend) => {
  let scenario: Scenario
  let operator: TournamentOperator
  let viewer: Operator
  beforeAll(async () => {
    scenario = await openScenario(backend, viewerKeys)
    operator = await openTournamentOperator(scenario.api, scenario.db)
    viewer = await openViewer(scenario.api)
    return () => scenario.dispose()
  })

  describe('drafting', () => {
    it('[H-TRN-1] [H-TRN-8] makes a draft of just these fields, also without a board', async () => {
      const now = scenario.clock.nowUnixMs()
      const draft = { id: 'cup-1', leaderboard_id: 'not there yet', ...schedule }
      const answer = await operator.create(draft)
      const expected = {
        ...draft,
        state: 'draft',
        settled_epoch_due_at_unix_ms: null,
        created_at_unix_ms: now,
        updated_at_unix_ms: now,
      }
      expect([answer.status, answer.body]).toEqual([201, expected])
      expect((await operator.send('GET', '/tournaments/cup-1')).body).toEqual(expected)
      expect(await operator.list()).toEqual([expected])
      expect(await operator.trailOf('cup-1')).toEqual([
        ['tournaments.create', 'leaderboard=not there yet'],
      ])
    })

    it('[H-TRN-1] takes ids and times at their last byte and number, and equal times', async () => {
      for (const draft of [
        { id: bytes128, leaderboard_id: bytes128, ...times(last, last, last, last) },
        { id: ' ', leaderboard_id: '\u3000', ...times(0, 0, 0, 0) },
        { id: 'a/b?c%20#é', leaderboard_id: '__proto__', ...times(0, 0, 1, 1) },
      ]) {
        const made = tournamentIn(await operator.create(draft))
        expect(made).toMatchObject(draft)
        expect(await operator.get(draft.id)).toEqual(made)
      }
    })

    it.each([
      ['no id', { ...cup, id: undefined }],
      ['a null id', { ...cup, id: null }],
      ['an empty id', { ...cup, id: '' }],
      ['an id of 129 bytes', { ...cup, id: `${bytes128}x` }],
      ['an id with a control character', { ...cup, id: 'a\u0085' }],
      ['a number for an id', { ...cup, id: 7 }],
      ['no board', { ...cup, leaderboard_id: undefined }],
      ['a board of 129 bytes', { ...cup, leaderboard_id: `x${bytes128}` }],
      ['a board with U+0000', { ...cup, leaderboard_id: 'a\u0000' }],
      ['a missing time', { ...cup, starts_at_unix_ms: undefined }],
      ['a null time', { ...cup, ends_at_unix_ms: null }],
      ['a time below 0', { ...cup, ...times(-1, 2, 2, 3) }],
      ['a time beyond 2^53 - 1', { ...cup, ends_at_unix_ms: 2 ** 53 }],
      ['a fraction', { ...cup, ends_at_unix_ms: 3.5 }],
      ['a time as text', { ...cup, ends_at_unix_ms: '3' }],
      ['a closing before the opening', { ...cup, ...times(3, 2, 4, 5) }],
      ['a start before the closing', { ...cup, ...times(1, 3, 2, 5) }],
      ['an end before the start', { ...cup, ...times(1, 2, 4, 3) }],
      ['a state', { ...cup, state: 'draft' }],
      ['an array', []],
      ['broken JSON', '{"id":'],
      ['an exponent', JSON.stringify(cup).replace('"ends_at_unix_ms":3', '"ends_at_unix_ms":3e0')],
      ['a repeated field', JSON.stringify(cup).replace('{', '{"id":"z",')],
    ])('[H-TRN-1] refuses a draft with %s', async (_case, body) => {
      const before = await operator.list()
      const answer = await operator.send('POST', '/tournaments', body)
      expect([answer.status, answer.body]).toMatchObject([400, { code: 'invalid_request' }])
      expect(await operator.list()).toEqual(before)
    })

    it('[H-TRN-1] takes an id once; what is wrong by itself comes first', async () => {
      const { id } = await operator.make()
      const again = await operator.create({ ...operator.draftOf({ id }), leaderboard_id: 'other' })
      expect([again.status, again.body]).toEqual(exists)
      const wrong = await operator.create({ ...operator.draftOf({ id }), ends_at_unix_ms: 0 })
      expect([wrong.status, wrong.body]).toMatchObject([
        400,
        {
          message:
            'the request must hold registration opening, its closing, start and end in this order',
        },
      ])
      expect(await operator.trailOf(id)).toHaveLength(1)
    })

    it('[O-TX-5] of many drafts of one id at once one is made', async () => {
      const other = await scenario.openNode({ 'server.node_id': 'dev-2' })
      const operators = [operator, await openTournamentOperator(other, scenario.db)]
      const draft = operator.draftOf({ id: 'at once' })
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, n) => operators[n % 2]?.create(draft)),
      )
      const statuses = answers.map((answer) => answer?.status).sort()
      expect(statuses).toEqual([201, ...Array(11).fill(409)])
      expect(await operator.trailOf('at once')).toHaveLength(1)
    })

    it('[H-IDM-2] a repeated request under its key is made once', async () => {
      const draft = operator.draftOf({})
      const key = { 'idempotency-key': 'draft-1' }
      const answers = [await operator.create(draft, key), await operator.create(draft, key)]
      expect(answers.map(({ status }) => status)).toEqual([201, 201])
      expect(answers[0]?.body).toEqual(answers[1]?.body)
      expect(await operator.trailOf(draft.id)).toHaveLength(1)
    })

    it('lists by start time, then by the bytes of the id', async () => {
      const end = { ends_at_unix_ms: last, registration_closes_at_unix_ms: 0 }
      for (const [id, starts_at_unix_ms] of [
        ['order \uffee', 7],
        ['order 𐀀', 7],
        ['order Z', 7],
        ['order a', 6],
      ] as const) {
        await operator.make({ id, starts_at_unix_ms, ...end })
      }
      const ids = (await operator.list()).map(({ id }) => id).filter((id) => id.startsWith('order'))
      expect(ids).toEqual(['order a', 'order Z', 'order \uffee', 'order 𐀀'])
    })
  })

  describe('moving on', () => {
    it('[H-TRN-3] [H-TRN-8] every edge of the console, each audited; all others are 409', async () => {
      const ways = {
        draft: [],
        registration_open: ['registration_open'],
        running: ['registration_open', 'running'],
        cancelled: ['cancelled'],
      } as const
      const legal: Record<string, readonly string[]> = {
        draft: ['registration_open', 'cancelled'],
        registration_open: ['running', 'cancelled'],
        running: ['cancelled'],
        cancelled: [],
      }
      for (const [from, way] of Object.entries(ways)) {
        for (const to of tournamentStates) {
          const { id } = await operator.make()
          const before = await operator.move(id, ...way)
          await scenario.clock.advance(1)
          const answer = await operator.transition(id, to)
          const after = await operator.get(id)
          if (legal[from]?.includes(to)) {
            const now = scenario.clock.nowUnixMs()
            expect([from, to, answer.body]).toEqual([
              from,
              to,
              { ...before, state: to, updated_at_unix_ms: now },
            ])
            expect(after).toEqual(answer.body)
            expect((await operator.trailOf(id)).at(-1)).toEqual([
              'tournaments.transition',
              `state=${to}`,
            ])
          } else {
            expect([from, to, answer.status, answer.body]).toEqual([from, to, ...illegal])
            expect(after).toEqual(before)
            expect(await operator.trailOf(id)).toHaveLength(way.length + 1)
          }
        }
      }
    })

    it('[H-TRN-3] nothing leads out of finalizing or completed', async () => {
      const { id, leaderboard_id } = await operator.run([])
      const closed = { leaderboard_id, period: 0, sort: 'asc', due_at_unix_ms: 1 }
      const background = backgroundOf(scenario, scenario.api)
      const { periodClosed } = scenario.api.features.tournaments
      await scenario.db.transaction((tx) => periodClosed(tx, closed))
      for (const state of ['finalizing', 'completed']) {
        expect((await operator.get(id)).state).toBe(state)
        for (const to of tournamentStates) {
          const answer = await operator.transition(id, to)
          expect([to, answer.status, answer.body]).toEqual([to, ...illegal])
        }
        await background.settle()
      }
      await background.lease.release()
    })

    it.each([
      ['no state', {}],
      ['an unknown token', { state: 'paused' }],
      ['a token in capitals', { state: 'RUNNING' }],
      ['a null state', { state: null }],
      ['an unknown field', { state: 'cancelled', reason: 'rain' }],
      ['text', '"cancelled"'],
    ])('[H-TRN-3] refuses %s, also for a tournament that is not there', async (_case, body) => {
      const { id } = await operator.make()
      for (const path of [operator.path(id), operator.path('nobody’s cup')]) {
        const answer = await operator.send('POST', `${path}/transition`, body)
        expect([answer.status, answer.body]).toMatchObject([400, { code: 'invalid_request' }])
      }
      expect((await operator.get(id)).state).toBe('draft')
    })

    it('[H-TRN-4] [O-TRN-1] one that met a state which is gone meanwhile is refused', async () => {
      const { id } = await operator.make()
      // The other operator is done between the look at the state and the change of it.
      const mutate: Mutate<Transaction> = async (_, change, options) => {
        await operator.move(id, 'registration_open', 'running')
        return (await scenario.db.transaction(change, options)).answer
      }
      const { db, clock } = scenario
      const tournaments = createTournaments({ db, clock, mutate })
      const late = tournaments.transition(bySystem, id, 'cancelled')
      await expect(late).rejects.toMatchObject({ name: 'Failure', code: 'conflict' })
      expect((await operator.get(id)).state).toBe('running')
    })

    it('[H-TRN-4] of many transitions at once at most one of each state wins', async () => {
      const other = await scenario.openNode({ 'server.node_id': 'dev-3' })
      const operators = [operator, await openTournamentOperator(other, scenario.db)]
      for (let round = 0; round < 5; round += 1) {
        const { id } = await operator.make()
        const inputs = ['registration_open', 'cancelled', 'registration_open', 'cancelled']
        const answers = await Promise.all(
          inputs.map((state, n) => operators[n % 2]?.transition(id, state)),
        )
        const won = answers.filter((answer) => answer?.status === 200).length
        // A cancellation that only began after the opening was done is one of its own.
        expect([1, 2]).toContain(won)
        // In memory every node has a trail of its own.
        const [own, others] = await Promise.all(operators.map((each) => each.trailOf(id)))
        const seen = backend.name === 'in-memory' ? [...(own ?? []), ...(others ?? [])] : own
        expect(seen).toHaveLength(1 + won)
      }
    })
  })

  describe('reading', () => {
    it('[H-TRN-2] unknown tournaments are 404, and ids of the wrong shape 400', async () => {
      for (const rest of ['', '/entries', '/results']) {
        expect((await operator.send('GET', `/tournaments/none${rest}`)).status).toBe(404)
        for (const id of [`${bytes128}x`, '\u0007', 'a\u0000']) {
          const path = `${operator.path(id)}${rest}`
          expect([rest, (await operator.send('GET', path)).status]).toEqual([rest, 400])
        }
        expect((await operator.send('GET', `/tournaments/%ff${rest}`)).status).toBe(400)
      }
      expect((await operator.transition('none', 'cancelled')).status).toBe(404)
    })

    it('[H-TRN-2] has no entries and no results before there are any', async () => {
      const { id } = await operator.make()
      for (const rest of ['/entries', '/results']) {
        const answer = await operator.send('GET', `${operator.path(id)}${rest}`)
        expect([answer.status, answer.body]).toEqual([200, { items: [], total: 0 }])
      }
    })

    it('[H-AUTH-5] viewers read all and change nothing, whatever they send', async () => {
      const { id } = await operator.make()
      for (const rest of ['', '/entries', '/results']) {
        expect((await viewer.send('GET', `${operator.path(id)}${rest}`)).status).toBe(200)
      }
      expect((await viewer.send('GET', '/tournaments')).status).toBe(200)
      for (const body of [cup, 'broken', undefined]) {
        expect((await viewer.send('POST', '/tournaments', body)).status).toBe(403)
        const path = `${operator.path(id)}/transition`
        expect((await viewer.send('POST', path, body)).status).toBe(403)
      }
      expect((await operator.get(id)).state).toBe('draft')
    })
  })

  it.runIf(backend.name !== 'in-memory')(
    '[O-DB-3] everything is there after a restart',
    async () => {
      const { user_id } = await scenario.signUp()
      const { id } = await operator.run([user_id])
      const before = await operator.get(id)
      await scenario.restart()
      operator = await openTournamentOperator(scenario.api, scenario.db)
      expect(await operator.get(id)).toEqual(before)
      expect(await operator.entrants(id)).toEqual([user_id])
      await backgroundOf(scenario, scenario.api, 'bt1-restarted').settle()
      expect(await operator.get(id)).toMatchObject({
        state: 'completed',
        settled_epoch_due_at_unix_ms: endedUnixMs,
      })
    },
  )
})

function times(opens: number, closes: number, starts: number, ends: number) {
  return {
    registration_opens_at_unix_ms: opens,
    registration_closes_at_unix_ms: closes,
    starts_at_unix_ms: starts,
    ends_at_unix_ms: ends,
  }
}
