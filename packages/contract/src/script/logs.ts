import { z } from 'zod'
import { hasControlCharacter, text, trimmed, utf8Bytes } from '../values/fields.ts'
import { json } from './fields.ts'
import { defineScriptApi } from './script-api.ts'
import { traceLevels } from './tools.ts'

/** Levels of lines in any ASCII case; stored in lower case. */
export const logLevel = z
  .string()
  .transform((given) => traceLevels.find((level) => level === given.toLowerCase()))
  .refine((level) => level !== undefined, {
    error: 'must be one of trace, debug, info, warn, error',
  })
  .transform((level) => level ?? 'info')
  .meta({ jsonSchema: { type: 'string', enum: [...traceLevels] } })

/** 1..64 of a-z, 0-9, _ . -, no dot at either end, no two dots together. */
export const logTag = text(
  (value) => /^(?!.*\.\.)(?!\.)[a-z0-9_.-]{1,64}(?<!\.)$/.test(value),
  'must be 1..64 of a-z, 0-9, "_", "." and "-", with no dot at either end nor two together',
  { minLength: 1, maxLength: 64 },
)

const logMessage = z
  .string()
  .transform(trimmed)
  .refine(
    (value) =>
      value !== '' && value.isWellFormed() && utf8Bytes(value) <= 1024 && !hasAsciiControl(value),
    { error: 'must be 1..1024 bytes without control characters' },
  )
  .meta({ jsonSchema: { type: 'string', minLength: 1, maxLength: 1024 } })

/** Context of a telemetry slice, and markers. */
const sliceContext = text(
  (value) => /^[a-z0-9_.-]{1,64}$/.test(value),
  'must be 1..64 of a-z, 0-9, "_", "." and "-"',
  { minLength: 1, maxLength: 64 },
)
const marker = text(
  (value) => value !== '' && utf8Bytes(value) <= 64 && !hasControlCharacter(value),
  'must be 1..64 bytes without control characters',
  { minLength: 1, maxLength: 64 },
)

const command = { tier: 'trusted', runs: 'command' } as const

export const logsScript = defineScriptApi({
  'log.write': {
    doc: 'Writes a durable line and returns its id at once; null without a durable backend.',
    example: ["guildhall.log.write('info', 'shop', 'sold', { item: 'sword' })"],
    args: () => ({
      level: logLevel,
      tag: logTag,
      message: logMessage,
      payload: json.optional().meta({
        description: 'An object or array, or its JSON text, at most match_logs_max_payload_bytes',
      }),
    }),
    ok: () => z.string().nullable(),
    errors: ['limit_exceeded'],
    ...command,
  },
  'match.set_result': {
    doc: "Sets the result of the room's match: a JSON object of at most 4,096 bytes, or its text.",
    args: () => ({ result: json }),
    ok: () => z.boolean().meta({ description: 'False without a durable backend' }),
    errors: ['limit_exceeded'],
    ...command,
  },
  'telemetry.begin': {
    doc: 'Opens a telemetry slice of the room, or of the node without one; closes the one before.',
    args: () => ({ context: sliceContext.optional().meta({ description: 'Default match' }) }),
    errors: ['limit_exceeded'],
    ...command,
  },
  'telemetry.mark': {
    doc: 'Counts a marker in the open slice; without one, nothing.',
    args: () => ({ marker, outcome: z.enum(['accepted', 'rejected', 'corrected']).optional() }),
    errors: ['limit_exceeded'],
    ...command,
  },
  'telemetry.finish': {
    doc: 'Closes the open slice; without one, nothing.',
    args: {},
    errors: ['limit_exceeded'],
    ...command,
  },
})

function hasAsciiControl(value: string): boolean {
  for (let i = 0; i < value.length; i += 1) {
    const unit = value.charCodeAt(i)
    if (unit < 0x20 || unit === 0x7f) return true
  }
  return false
}
