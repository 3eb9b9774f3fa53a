import type { z } from 'zod'
import { Failure, refuse } from '../failure.ts'
import { type JsonReading, JsonRefusal, type Oddity, readJson } from './json-reader.ts'
import { innermost, isFree, memberOf } from './schema-walk.ts'

/**
 * Checks `value` against `schema`; the refusal names the field and the rule, never the value. What
 * has no name of its own is called `whole`.
 */
export function validate<S extends z.ZodType>(
  schema: S,
  value: unknown,
  whole = 'the request',
): z.output<S> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const [issue] = result.error.issues
  if (issue === undefined)
    throw new Failure('internal_error', { reason: 'a refusal without issue' })
  const text = sentenceOf(issue, whole)
  throw new Failure('invalid_request', { reason: text, text, path: issue.path })
}

/** Reads a JSON text and checks it against `schema`; by default the text is the request's body. */
export function validateJson<S extends z.ZodType>(
  schema: S,
  text: string,
  whole?: string,
): z.output<S> {
  const { value, oddities } = reading(text, whole ?? 'the body')
  for (const oddity of oddities) expectHarmless(oddity, schema)
  return validate(schema, value, whole)
}

function reading(text: string, whole: string): JsonReading {
  try {
    return readJson(text)
  } catch (error) {
    if (error instanceof JsonRefusal) throw refuse.invalid(`${whole} ${error.message}`)
    throw error
  }
}

/** Oddities matter where the schema declares a field; inside free-form objects they do not. */
function expectHarmless({ kind, path }: Oddity, schema: z.ZodType): void {
  let at: z.ZodType | undefined = schema
  for (const step of path) {
    at = memberOf(at, step)
    if (at === undefined) return
  }
  const name = pathText(path)
  if (kind === 'repeated name') throw refuse.invalid(`${name} is repeated`)
  if (!isFree(innermost(at))) throw refuse.invalid(`${name} must be an integer`)
}

function sentenceOf(issue: z.core.$ZodIssue, whole: string): string {
  const name = issue.path.length === 0 ? whole : pathText(issue.path)
  if (issue.code === 'unrecognized_keys') return `${name} has an unknown field`
  if (issue.code === 'custom' || issue.code === 'invalid_format') return `${name} ${issue.message}`
  return `${name} ${ruleOf(issue)}`
}

function ruleOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${noun(issue.expected)}`
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).join(', ')}`
    case 'too_small':
      return `must be at least ${issue.minimum}`
    case 'too_big':
      return `must be at most ${issue.maximum}`
    default:
      return 'is not valid'
  }
}

function noun(expected: string): string {
  switch (expected) {
    case 'int':
    case 'number':
      return 'an integer'
    case 'object':
    case 'array':
      return `an ${expected}`
    default:
      return `a ${expected}`
  }
}

/** `user_ids[3]`, `sort.column`: declared names only, since unknown ones are never entered. */
function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`
    return text === '' ? String(step) : `${text}.${String(step)}`
  }, '')
}
