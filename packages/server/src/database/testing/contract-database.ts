import type { TestBackend, TestDatabase } from './backends.ts'
import { tables } from './contract-statements.ts'

/** A fresh database of the backend with the contract's tables and none of the product's. */
export async function openWithTables(open: TestBackend['open']): Promise<TestDatabase> {
  const test = await open({ migrated: false })
  const { schema } = test.db
  await schema.transaction(async (tx) => {
    for (const table of tables) await tx.ddl(schema.render(table))
  })
  return test
}
