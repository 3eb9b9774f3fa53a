import { z } from 'zod'
import { durableId } from '../values/durable-ids.ts'
import { count, limit, presentReference, text, unixMs, utf8Bytes } from '../values/fields.ts'
import { queryTime } from '../values/numbers.ts'
import { once } from '../values/once.ts'
import { defineApi } from './route.ts'

/** Levels of lines, from the least to the most important. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof logLevels)[number]

/** A line that the game's script wrote. */
export const LogLine = once(() =>
  z.strictObject({
    log_id: z.string(),
    match_id: z.string().nullable().meta({ description: 'Null for a line without a match' }),
    node_id: z.string(),
    created_at_unix_ms: unixMs,
    level: z.enum(logLevels),
    tag: z.string(),
    message: z.string(),
    has_payload: z.boolean(),
  }),
)
export type LogLine = z.output<ReturnType<typeof LogLine>>

const LogDetail = once(() =>
  z.strictObject({
    ...LogLine().shape,
    payload_json: z.string().optional().meta({ description: 'The text that the script gave' }),
  }),
)

const tagPrefix = text(
  (value) => value !== '' && utf8Bytes(value) <= 64,
  'must be the first 1..64 bytes of tags',
  { minLength: 1, maxLength: 64 },
)

/** Cursors and filters of lists over lines. */
export const logPage = {
  after: durableId('ml1-').optional(),
  limit: limit({ default: 50, cap: 200 }),
}

const filters = once(() => ({
  match_id: durableId('mt1-').optional(),
  level: z.enum(logLevels).optional(),
  tag: tagPrefix.optional(),
}))

/** So many lines at most are looked through for one page of a search. */
export const linesLookedThrough = 10_000

const get = { method: 'GET', access: 'operator', scope: 'logs:read', trail: 'ring' } as const

export const scriptLogsApi = defineApi({
  list: {
    ...get,
    path: '/console/v1/logs',
    audit: 'logs.list',
    summary: 'Lines that the game’s script wrote, newest first',
    query: () =>
      z.strictObject({
        ...filters(),
        ...logPage,
      }),
    ok: () =>
      z.strictObject({
        items: z.array(LogLine()),
        next_after: z.string().optional(),
        durable: z.boolean(),
        dropped_total: count,
      }),
  },
  get: {
    ...get,
    path: '/console/v1/logs/{log_id}',
    audit: 'logs.detail',
    summary: 'One line with its payload',
    params: () => z.strictObject({ log_id: z.string() }),
    query: () => z.strictObject({}),
    ok: LogDetail,
    errors: ['not_found'],
  },
  search: {
    ...get,
    path: '/console/v1/log-search',
    audit: 'logs.list',
    summary:
      'Lines by what their message contains and when they were written, newest first. A page ' +
      `looks through ${linesLookedThrough} lines at most: it may have few lines or none, and ` +
      '`next_after` goes on behind those',
    query: () =>
      z.strictObject({
        ...filters(),
        text: presentReference().optional().meta({
          description: 'Somewhere in the message, letter by letter; payloads are not read',
        }),
        from: queryTime.meta({ description: 'Unix milliseconds, inclusive' }),
        to: queryTime.meta({ description: 'Unix milliseconds, inclusive' }),
        ...logPage,
      }),
    ok: () =>
      z.strictObject({
        items: z.array(LogLine()),
        next_after: z.string().optional(),
        looked_back_to_unix_ms: unixMs
          .optional()
          .meta({ description: 'Older lines are looked through by the next page' }),
        durable: z.boolean(),
        dropped_total: count,
      }),
  },
})
