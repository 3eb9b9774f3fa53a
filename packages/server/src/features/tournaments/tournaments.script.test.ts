import { auditApi } from '@guildhall/contract'
import { beforeAll, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { openOperator } from '../../testing/operator.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { type ScriptCall, scriptCaller, scriptOf } from '../../testing/script-calls.fixture.ts'

const invalid = { name: 'Failure', code: 'invalid_request' }
const conflict = { name: 'Failure', code: 'conflict' }

const times = {
  registration_opens_at_unix_ms: 0,
  registration_closes_at_unix_ms: 10,
  starts_at_unix_ms: 10,
  ends_at_unix_ms: 20,
}
const definition = { id: 'cup', leaderboard_id: 'weekly', ...times }

describe.each(testBackends)('tournaments that a script runs on $name', (backend) => {
  let scenario: Scenario
  let call: ScriptCall
  beforeAll(async () => {
    scenario = await openScenario(backend)
    call = scriptOf(scenario.api)
    return () => scenario.dispose()
  })

  it('[S-API-36] are drafted under the rules of the console, once for each id', async () => {
    for (const part of [
      { id: '' },
      { id: 'a\u0000' },
      { leaderboard_id: undefined },
      { starts_at_unix_ms: 21 },
      { ends_at_unix_ms: 0.5 },
      { state: 'running' },
    ]) {
      const drafted = call('tournaments.create', { ...definition, ...part })
      await expect(drafted, JSON.stringify(part)).rejects.toMatchObject(invalid)
    }
    const row = await call('tournaments.create', definition)
    expect(row).toMatchObject({ ...definition, state: 'draft' })
    expect(await call('tournaments.get', 'cup')).toEqual(row)
    await expect(call('tournaments.create', definition)).rejects.toMatchObject(conflict)
  })

  it('[S-API-36] move as operators move them, and answer the row', async () => {
    const move = (to: unknown, id: unknown = 'cup') => call('tournaments.transition', id, to)
    await expect(move('registration_open', 'no cup')).rejects.toMatchObject({ code: 'not_found' })
    await expect(move('over')).rejects.toMatchObject(invalid)
    await expect(move('running')).rejects.toMatchObject(conflict)
    expect(await move('registration_open')).toMatchObject({ id: 'cup', state: 'registration_open' })
    await expect(move('registration_open')).rejects.toMatchObject(conflict)
    expect(await move('running')).toMatchObject({ state: 'running' })
    await expect(move('completed')).rejects.toMatchObject(conflict)
    expect(await move('cancelled')).toMatchObject({ state: 'cancelled' })
    await expect(move('running')).rejects.toMatchObject(conflict)
  })

  it('[S-API-36] change their state once, however many scripts ask at once', async () => {
    await call('tournaments.create', { ...definition, id: 'raced' })
    const other = scriptOf(await scenario.openNode())
    const asked = await Promise.allSettled(
      [call, other, call, other].map((ask) =>
        ask('tournaments.transition', 'raced', 'registration_open'),
      ),
    )
    expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  it('[S-API-18] [S-API-36] are audited under the names of the console', async () => {
    const operator = await openOperator(scenario.api)
    const answer = await operator.send('GET', '/audit?limit=500&action=tournaments.')
    const { entries } = auditApi.list.ok.parse(answer.body)
    const words = entries
      .filter(({ target }) => target === 'cup')
      .map(({ action, actor_type, actor, role, details }) =>
        [action, actor_type, actor, role, details].join(' '),
      )
    const by = `script script - ${scriptCaller.revision_id}`
    const moved = `tournaments.transition ${by}`
    expect(words).toEqual([moved, moved, moved, `tournaments.create ${by}`])
  })
})
