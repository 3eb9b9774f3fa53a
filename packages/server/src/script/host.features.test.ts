import { afterEach, describe, expect, it } from 'vitest'
import { refuse } from '../kernel/failure.ts'
import { createHarness, type Harness } from './host.fixture.ts'
import type { HostFunctions } from './ports.ts'

const open: Harness[] = []

async function script(text: string, functions: HostFunctions): Promise<Harness> {
  const harness = createHarness({ files: { 'main.ts': text }, functions })
  open.push(harness)
  await harness.host.start()
  return harness
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((harness) => harness.close()))
})

const calls = `
  const told = (error) => [error instanceof Error, error.name, error.code, error.message]
  const attempt = (work) => Promise.resolve().then(work).catch(told)
`

describe('what scripts ask of the features', () => {
  it('[S-API-2] carries arguments and answers unchanged, 64-bit integers too', async () => {
    const asked: unknown[][] = []
    const note =
      (name: string, answer: unknown) =>
      (...args: readonly unknown[]) => {
        asked.push([name, ...args])
        return answer
      }
    const result = { user_id: 'ana', rank: 1, score: 9223372036854775807n, subscore: -1n }
    const { rpc } = await script(
      `guildhall.on_rpc('all', async () => {
        const { list, get, register, entries, results } = guildhall.tournaments
        const [first] = await results('cup')
        return [await list(), await get('cup'), await register('cup', 'ana'),
          await entries('cup'), String(first.score), typeof first.score, String(first.subscore)]
      })`,
      {
        'tournaments.list': note('list', []),
        'tournaments.get': note('get', null),
        'tournaments.register': note('register', { user_id: 'ana' }),
        'tournaments.entries': note('entries', [1]),
        'tournaments.results': note('results', [result]),
      },
    )
    expect(JSON.parse(String(await rpc('all')))).toEqual([
      [],
      null,
      { user_id: 'ana' },
      [1],
      '9223372036854775807',
      'bigint',
      '-1',
    ])
    expect(asked).toEqual([
      ['results', 'cup'],
      ['list'],
      ['get', 'cup'],
      ['register', 'cup', 'ana'],
      ['entries', 'cup'],
    ])
  })

  it('[S-API-1] raises refusals with their code and a short text, and hides what broke', async () => {
    const fails = (error: Error) => () => {
      throw error
    }
    const { rpc, lines } = await script(
      `${calls}
      guildhall.on_rpc('all', async () => [
        await attempt(() => guildhall.tournaments.list()),
        await attempt(() => guildhall.tournaments.get('x')),
        await attempt(() => guildhall.tournaments.entries('x')),
        await attempt(() => guildhall.tournaments.results('x')),
        await attempt(() => guildhall.tournaments.register('x', 'y')),
      ])`,
      {
        'tournaments.list': fails(refuse.invalid('id must be short')),
        'tournaments.get': fails(refuse.notFound('no such tournament: x')),
        'tournaments.entries': fails(refuse.conflict('it takes no entrants now')),
        'tournaments.results': fails(new Error('password of the database')),
      },
    )
    const raised = (code: string, message: string) => [true, 'GuildhallError', code, message]
    expect(JSON.parse(String(await rpc('all')))).toEqual([
      raised('invalid_argument', 'id must be short'),
      raised('not_found', 'not found'),
      raised('conflict', 'it takes no entrants now'),
      raised('internal', 'the call failed'),
      raised('unavailable', 'there is no such function'),
    ])
    expect(lines('error')).toMatchObject([
      { message: 'a call of the script failed', fields: { function: 'tournaments.results' } },
    ])
  })

  it('[S-TIER-3] a script changes nothing of the interface', async () => {
    const { rpc } = await script(
      `guildhall.on_rpc('frozen', () => [guildhall.tournaments, guildhall.tournaments.register]
        .map((part) => Object.isFrozen(part)))`,
      {},
    )
    expect(await rpc('frozen')).toBe('[true,true]')
  })
})
