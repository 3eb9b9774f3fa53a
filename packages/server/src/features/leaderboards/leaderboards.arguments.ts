import { type JsonObject, leaderboardsApi } from '@guildhall/contract'
import { z } from 'zod'
import { refuse } from '../../kernel/failure.ts'
import { canonicalJson, NotCanonical } from '../../kernel/json/canonical-json.ts'
import { validate } from '../../kernel/json/validate.ts'

/** The most records that are shown on each side of one: as many as a page has. */
const neighbour = z.int().min(0).max(500)
const Neighbours = z.object({ before: neighbour, after: neighbour })

/**
 * What scripts give to the functions of boards, checked by the rules of the console's routes, so
 * that nothing wrong gets into a transaction that others share.
 *
 * @throws Failure `invalid_request`
 */
export const scriptArguments = {
  board: (given: unknown) => validate(leaderboardsApi.create.body, given),
  boardId: (id: unknown) => validate(leaderboardsApi.submit.params, { id }).id,
  recordKey: (id: unknown, user_id: unknown) =>
    validate(leaderboardsApi.deleteRecord.params, { id, user_id }),
  neighbours: (given: unknown) => validate(Neighbours, given),
  record(given: unknown) {
    const record = validate(leaderboardsApi.submit.body, given)
    if (record.metadata !== undefined) expectJson(record.metadata)
    return record
  },
}

/** What the console's routes have read from JSON is JSON; a script's object may hold anything. */
function expectJson(metadata: JsonObject): void {
  try {
    canonicalJson(metadata)
  } catch (error) {
    if (error instanceof NotCanonical) throw refuse.invalid(`metadata ${error.message}`)
    throw error
  }
}
