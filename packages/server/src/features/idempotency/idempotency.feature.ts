import type { Database } from '../../database/database.ts'
import type { Clock } from '../../kernel/clock.ts'
import { defineFeature } from '../feature.ts'
import { createIdempotency } from './idempotency.service.ts'

/** Answers of mutations that may be repeated. */
export function idempotencyFeature(deps: { db: Database; clock: Clock }) {
  const { prune, ...idempotency } = createIdempotency(deps)
  const repeated = 'held by repeating the requests of lost answers after each crash'
  return defineFeature(
    {
      pruners: { idempotency_records: prune },
      crash: { idempotency_records: { not: repeated } },
    },
    idempotency,
  )
}
