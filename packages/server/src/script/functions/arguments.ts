import { type ScriptFunction, type ScriptFunctionName, scriptApi } from '@guildhall/contract'
import { z } from 'zod'
import { atIndex, Failure, refuse } from '../../kernel/failure.ts'
import { validate } from '../../kernel/json/validate.ts'

/** The rows of the script API by name. */
export const scriptRows: ReadonlyMap<string, ScriptFunction> = new Map(Object.entries(scriptApi))

/** The commands of the API in one order on both sides: records name them by their index. */
export const commandNames: readonly ScriptFunctionName[] = Object.keys(scriptApi)
  .filter(isFunctionName)
  .filter((name) => scriptApi[name].runs === 'command')

export const commandIndexes: ReadonlyMap<string, number> = new Map(
  commandNames.map((name, index) => [name, index]),
)

/**
 * The arguments of a call by name, checked, with defaults filled in.
 *
 * @throws Failure `invalid_request` that names the function and the argument
 */
export function checkedArguments(
  name: string,
  row: ScriptFunction,
  given: readonly unknown[],
): { [argument: string]: unknown } {
  const names = Object.keys(row.args)
  if (given.length > names.length) {
    const most = names.length === 1 ? '1 argument' : `${names.length} arguments`
    throw refuse.invalid(`${name}: it takes at most ${most}`)
  }
  const named = Object.fromEntries(names.map((argument, index) => [argument, given[index]]))
  try {
    return validate(schemaOf(row), named)
  } catch (error) {
    if (!(error instanceof Failure) || error.text === undefined) throw error
    const refusal = refuse.invalid(`${name}: ${error.text}`)
    const [argument, index] = error.path
    const isOperation = argument === row.operations && typeof index === 'number'
    throw isOperation ? atIndex(refusal, index) : refusal
  }
}

const schemas = new Map<ScriptFunction, z.ZodObject>()

function schemaOf(row: ScriptFunction): z.ZodObject {
  const known = schemas.get(row)
  if (known !== undefined) return known
  const schema = z.strictObject(row.args)
  schemas.set(row, schema)
  return schema
}

function isFunctionName(name: string): name is ScriptFunctionName {
  return Object.hasOwn(scriptApi, name)
}
