import type { FeatureNames } from './names.ts'

/** The files of a new feature, by their paths. */
export function featureFiles(
  names: FeatureNames,
  migration: number,
): Readonly<Record<string, string>> {
  const { kebab } = names
  const server = 'packages/server/src'
  const folder = `${server}/features/${kebab}/${kebab}`
  const number = String(migration).padStart(4, '0')
  const texts = {
    [`packages/contract/src/routes/${kebab}.ts`]: contract,
    [`${server}/database/tables/${kebab}.ts`]: table,
    [`${server}/database/migrations/${number}-${kebab}.ts`]: step,
    [`${folder}.store.ts`]: store,
    [`${folder}.service.ts`]: service,
    [`${folder}.routes.ts`]: routes,
    [`${folder}.feature.ts`]: feature,
    [`${folder}.test.ts`]: test,
  }
  const filled = Object.entries(texts).map(([path, text]) => [path, fill(text, names, migration)])
  return Object.fromEntries(filled)
}

function fill(text: string, names: FeatureNames, migration: number): string {
  return text
    .trimStart()
    .replaceAll('KEBAB', names.kebab)
    .replaceAll('CAMEL', names.camel)
    .replaceAll('PASCAL', names.pascal)
    .replaceAll('SNAKE', names.snake)
    .replaceAll('NUMBER', String(migration))
}

const contract = `
import { z } from 'zod'
import { limit, presentReference, unixMs } from '../values/fields.ts'
import { before, pathInteger } from '../values/numbers.ts'
import { once } from '../values/once.ts'
import { defineApi } from './route.ts'

export const PASCALItem = once(() =>
  z.strictObject({
    id: z.int().min(1),
    text: z.string(),
    created_at_unix_ms: unixMs,
  }),
)

export const CAMELApi = defineApi({
  list: {
    method: 'GET',
    path: '/console/v1/KEBAB',
    access: 'operator',
    scope: 'no key',
    summary: 'The newest items of KEBAB',
    query: () => z.strictObject({ limit: limit({ default: 50, cap: 200 }), before }),
    ok: () => z.strictObject({ items: z.array(PASCALItem()) }),
  },
  create: {
    method: 'POST',
    path: '/console/v1/KEBAB',
    access: 'admin',
    audit: 'SNAKE.create',
    summary: 'Adds an item to KEBAB',
    body: () => z.strictObject({ text: presentReference() }),
    ok: PASCALItem,
    status: 201,
  },
  delete: {
    method: 'DELETE',
    path: '/console/v1/KEBAB/{id}',
    access: 'admin',
    audit: 'SNAKE.delete',
    summary: 'Removes an item of KEBAB',
    params: () => z.strictObject({ id: pathInteger }),
    errors: ['not_found'],
  },
})
`

const table = `
import { defineTable } from './table.ts'

export const CAMEL = defineTable('SNAKE', {
  columns: { id: 'integer', text: 'text', created_at_unix_ms: 'time' },
  key: ['id'],
  sequence: 'id',
})
`

const step = `
import type { Migration } from './migration.ts'

/** The table of KEBAB. */
export const CAMEL: Migration = {
  number: NUMBER,
  name: 'KEBAB',
  oldestBinary: '0.1.0',
  steps: [
    \`CREATE TABLE SNAKE (
      id {{identity}},
      text {{text}} NOT NULL,
      created_at_unix_ms {{bigint}} NOT NULL
    ) {{strict}}\`,
  ],
}
`

const store = `
import type { Queries } from '../../database/database.ts'
import { type Row, statement } from '../../database/statement.ts'
import { CAMEL } from '../../database/tables/KEBAB.ts'

const itemRow = CAMEL.columns

const insert = statement({
  name: 'SNAKE.insert',
  text: \`INSERT INTO SNAKE (text, created_at_unix_ms) VALUES (:text, :created_at_unix_ms)
    RETURNING id, text, created_at_unix_ms\`,
  params: { text: 'text', created_at_unix_ms: 'integer' },
  row: itemRow,
})

const list = statement({
  name: 'SNAKE.list',
  text: \`SELECT id, text, created_at_unix_ms FROM SNAKE WHERE id < :before
    ORDER BY id DESC LIMIT :limit\`,
  params: { before: 'integer', limit: 'integer' },
  row: itemRow,
})

const remove = statement({
  name: 'SNAKE.delete',
  text: 'DELETE FROM SNAKE WHERE id = :id',
  params: { id: 'integer' },
})

export const CAMELStore = {
  insert: (tx: Queries, row: Row<(typeof insert)['params']>) => tx.get(insert, row),
  list: (tx: Queries, page: Row<(typeof list)['params']>) => tx.all(list, page),
  /** False when there is none. */
  remove: async (tx: Queries, id: number) => (await tx.run(remove, { id })) === 1,
}
`

const service = `
import type { CAMELApi } from '@guildhall/contract'
import type { z } from 'zod'
import type { Database, Transaction } from '../../database/database.ts'
import type { Clock } from '../../kernel/clock.ts'
import { refuse } from '../../kernel/failure.ts'
import type { Mutate, Mutation } from '../../kernel/mutation.ts'
import { CAMELStore } from './KEBAB.store.ts'

export type PASCALDeps = { db: Database; clock: Clock; mutate: Mutate<Transaction> }

export type PASCAL = ReturnType<typeof createPASCAL>

type Query = z.output<(typeof CAMELApi)['list']['query']>

/** The statement that changes the row decides by what it finds. */
const oneRow = { isolation: 'read committed' } as const

export function createPASCAL({ db, clock, mutate }: PASCALDeps) {
  return {
    async list({ limit, before = Number.MAX_SAFE_INTEGER }: Query) {
      return { items: await CAMELStore.list(db, { before, limit }) }
    },

    async create(mutation: Mutation, { text }: { text: string }) {
      const row = { text, created_at_unix_ms: clock.nowUnixMs() }
      return mutate(
        mutation,
        async (tx) => {
          const answer = await CAMELStore.insert(tx, row)
          if (answer === undefined) throw new Error('the new item did not come back')
          return { answer, target: String(answer.id), details: 'created' }
        },
        oneRow,
      )
    },

    async delete(mutation: Mutation, id: number) {
      return mutate(
        mutation,
        async (tx) => {
          if (!(await CAMELStore.remove(tx, id))) throw refuse.notFound('no such item')
          return { answer: undefined, target: String(id), details: 'deleted' }
        },
        oneRow,
      )
    },
  }
}
`

const routes = `
import type { CAMELApi } from '@guildhall/contract'
import type { ServerHandlers } from '../../kernel/http/exchange.ts'
import type { PASCAL } from './KEBAB.service.ts'

export function CAMELHandlers(service: PASCAL): ServerHandlers<typeof CAMELApi> {
  return {
    list: ({ query }) => service.list(query),
    create: ({ mutation, body }) => service.create(mutation, body),
    delete: ({ mutation, params }) => service.delete(mutation, params.id),
  }
}
`

const feature = `
import { defineFeature, mount } from '../feature.ts'
import { CAMELHandlers } from './KEBAB.routes.ts'
import { createPASCAL, type PASCALDeps } from './KEBAB.service.ts'

export function CAMELFeature(deps: PASCALDeps) {
  return defineFeature({
    routes: mount({ CAMEL: CAMELHandlers(createPASCAL(deps)) }),
    crash: { SNAKE: { not: 'the load of the crash tests does not write it yet' } },
  })
}
`

const test = `
import { beforeEach, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { type Operator, openOperator } from '../../testing/operator.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'

describe.each(testBackends)('KEBAB on $name', (backend) => {
  let scenario: Scenario
  let operator: Operator
  beforeEach(async () => {
    scenario = await openScenario(backend)
    operator = await openOperator(scenario.api)
    return () => scenario.dispose()
  })

  it('is created, listed newest first, and deleted once', async () => {
    const created_at_unix_ms = scenario.clock.nowUnixMs()
    for (const text of ['one', 'two']) {
      expect((await operator.send('POST', '/KEBAB', { text })).status).toBe(201)
    }
    const two = { id: 2, text: 'two', created_at_unix_ms }
    const one = { id: 1, text: 'one', created_at_unix_ms }
    expect((await operator.send('GET', '/KEBAB')).body).toEqual({ items: [two, one] })
    expect((await operator.send('GET', '/KEBAB?before=2')).body).toEqual({ items: [one] })
    expect((await operator.send('DELETE', '/KEBAB/1')).status).toBe(204)
    expect((await operator.send('DELETE', '/KEBAB/1')).status).toBe(404)
    expect(await operator.trailOf('1')).toEqual([
      ['SNAKE.create', 'created'],
      ['SNAKE.delete', 'deleted'],
    ])
  })
})
`
