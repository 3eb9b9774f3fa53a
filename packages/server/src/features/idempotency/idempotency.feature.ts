import type { Database } from '../../database/database.ts'
import type { Clock } from '../../kernel/clock.ts'
import { defineFeature } from '../feature.ts'
import { createIdempotency } from './idempotency.service.ts'

/** Answers of mutations that may be repeated. */
export function idempotencyFeature(deps: { db: Database; clock: Clock }) {
  const { prune, ...idempotency } = createIdempotency(deps)
  return defineFeature({ pruners: { idempotency_records: prune } }, idempotency)
}
