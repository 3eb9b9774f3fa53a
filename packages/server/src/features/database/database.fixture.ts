import { databaseApi } from '@guildhall/contract'
import type { z } from 'zod'
import type { TestBackend } from '../../database/testing/backends.ts'
import { createFakeClock } from '../../kernel/clock.fake.ts'
import { readJson } from '../../kernel/json/json-reader.ts'
import { openTestApi } from '../../testing/api.ts'
import { openOperator, openViewer, viewerKeys } from '../../testing/operator.ts'

type Rows = z.input<(typeof databaseApi)['rows']['body']>

/** An admin and a viewer at the explorer of one node; what others made comes by `ddl`. */
export async function openExplorer(backend: TestBackend) {
  const clock = createFakeClock()
  const test = await backend.open({ clock })
  const api = await openTestApi({
    db: test.db,
    clock,
    config: viewerKeys,
  })
  const operator = await openOperator(api)
  const eye = await openViewer(api)
  const schema = backend.name === 'postgres' ? 'public' : 'main'
  return {
    test,
    api,
    clock,
    operator,
    eye,
    schema,
    async ddl(...texts: string[]) {
      await test.db.schema.transaction(async (tx) => {
        for (const text of texts) await tx.ddl(test.db.schema.render(text))
      })
    },
    post: (path: 'rows' | 'row', body: object, by = operator) =>
      by.send('POST', `/database/${path}`, body),
    describe: (table: string, by = operator) => by.send('GET', `/database/${schema}/${table}`),
    async rows(table: string, question: Omit<Rows, 'table'>, by = operator) {
      const answer = await by.send('POST', '/database/rows', {
        table: { schema, table },
        ...question,
      })
      if (answer.status !== 200) throw new Error(`rows answered ${answer.status} ${answer.text}`)
      return databaseApi.rows.ok.parse(readJson(answer.text).value)
    },
    /** What a question that is refused answers. */
    async refusal(table: string, question: object, by = operator) {
      const answer = await by.send('POST', '/database/rows', {
        table: { schema, table },
        ...question,
      })
      return { status: answer.status, ...(answer.body as { code: string; message: string }) }
    },
    async dispose() {
      await api.close()
      await test.dispose()
    },
  }
}

export type ExplorerOperator = Awaited<ReturnType<typeof openExplorer>>
