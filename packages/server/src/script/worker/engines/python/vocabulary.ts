import { nameIn } from '../../../functions/guest-names.ts'
import { rowShape } from '../../../functions/shapes.ts'
import type { Surface } from '../../bindings/surface.ts'
import { type FunctionPlan, type Plan, planFunction, planHandler } from '../../conversions/plans.ts'
import type { MarshalWriter } from './values/marshal-writer.ts'

type Fn = (...args: unknown[]) => unknown

/** What the kernel builds `guildhall` of: a row for each function and each hook. */
export type Vocabulary = {
  readonly functions: readonly object[]
  readonly hooks: readonly object[]
  /** What `guildhall.room` is built of. */
  readonly rooms: readonly object[]
  /** By the number in its row. */
  readonly entries: readonly Entry[]
}

/** What a script can call, as the worker does it. */
export type Entry =
  | {
      readonly kind: 'function'
      readonly name: string
      readonly fn: Fn
      readonly taskAt: number
      readonly params: readonly string[]
    }
  | { readonly kind: 'room'; readonly name: string; readonly fn: Fn }
  | { readonly kind: 'hook'; readonly name: string; readonly fn: Fn; readonly args: ArgumentForms }

/** Of each argument of a handler: its members in their order, if it has some. */
export type ArgumentForms = readonly (readonly string[] | undefined)[]

export function createVocabulary({ functions, hooks, guestRooms }: Surface): Vocabulary {
  const entries: Entry[] = []
  const functionRows = functions.map(({ name, fn, row }) => {
    const plan = planFunction(row)
    const taskAt = rowShape(row).args.findIndex(({ shape }) => shape.kind === 'function')
    const params = plan.args.map((arg) => arg.name)
    const number = entries.push({ kind: 'function', name, fn, taskAt, params }) - 1
    return {
      ...{ number, name, doc: row.doc, planned: row.planned === true },
      ...parameters(plan),
      task_at: taskAt,
      ok: plan.ok,
    }
  })
  const hookRows = hooks.map(({ name, fn, row }) => {
    const { args } = planHandler(row)
    const number = entries.push({ kind: 'hook', name, fn, args: args.map(members) }) - 1
    return { number, name, doc: row.doc, planned: row.planned === true, slot: row.slot, args }
  })
  const rooms = guestRooms().map(({ name, fn }) => {
    return { name, number: entries.push({ kind: 'room', name, fn }) - 1 }
  })
  return { functions: functionRows, hooks: hookRows, rooms, entries }
}

/** As keyword arguments: a parameter, or a member of the options behind them. */
function parameters({ args, hasOptions }: FunctionPlan) {
  const options = hasOptions ? Object.keys(args.at(-1)?.members ?? {}) : []
  return {
    params: args.map(({ name }) => nameIn('python', name)),
    has_options: hasOptions,
    options: Object.fromEntries(options.map((name) => [nameIn('python', name), name])),
  }
}

function members(plan: Plan): readonly string[] | undefined {
  return plan.holds === 'object' && plan.members ? Object.keys(plan.members) : undefined
}

/** A ctx travels as its values in the order of its members, which saves their names. */
export function writeArgument(
  writer: MarshalWriter,
  value: unknown,
  names: readonly string[] | undefined,
): void {
  const values = names && isObject(value) ? names.map((name) => value[name]) : undefined
  if (!values || values.includes(undefined)) {
    writer.value(value)
    return
  }
  writer.tuple(values.length)
  for (const each of values) writer.value(each)
}

function isObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null
}
