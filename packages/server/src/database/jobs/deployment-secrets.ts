import type { Randomness } from '../../kernel/ids.ts'
import type { Queries } from '../database.ts'
import { statement } from '../statement.ts'

/**
 * The deployment's secret of this name: 32 random bytes, made at the first call and the same on
 * every node. It must never reach a log or a page.
 */
export async function deploymentSecret(
  db: Queries,
  name: string,
  randomness: Randomness,
): Promise<Uint8Array> {
  const known = await db.get(secretByName, { name })
  if (known) return known.secret
  await db.run(insertIfAbsent, { name, secret: randomness(secretBytes) })
  const stored = await db.get(secretByName, { name })
  if (!stored) throw new Error(`the deployment secret ${name} was not stored`)
  return stored.secret
}

const secretBytes = 32

const secretByName = statement({
  name: 'deployment-secrets.by-name',
  text: 'SELECT secret FROM deployment_secrets WHERE name = :name',
  params: { name: 'text' },
  row: { secret: 'bytes' },
})

const insertIfAbsent = statement({
  name: 'deployment-secrets.insert-if-absent',
  text: `INSERT INTO deployment_secrets (name, secret) VALUES (:name, :secret)
    ON CONFLICT (name) DO NOTHING`,
  params: { name: 'text', secret: 'bytes' },
})
