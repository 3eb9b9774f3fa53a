import type { ScriptFunction, ScriptHook } from '@guildhall/contract'
import { type Shape, shapeOf } from '../../functions/shapes.ts'

/**
 * How a value crosses between the worker and a language that says less than JavaScript, by the
 * table of the script API: a text is no different from bytes there, an empty list no different from
 * an empty object, and there is one "nothing" for what is null and what is not there. Every
 * language converts by these plans; they are plain data, which may be handed into a guest.
 */
export type Plan = {
  /** What a string of the language is, if it has one type for both. */
  readonly strings: 'text' | 'bytes'
  /** Members, items and nulls inside are the author's own; strings in there are texts. */
  readonly isJson: boolean
  /** What is nothing in the language is null here; elsewhere it is an absent argument or member. */
  readonly takesNull: boolean
  readonly holds: 'nothing' | 'list' | 'record' | 'object'
  /** Of what a list or a record holds. */
  readonly each?: Plan
  /** Of an object; what is not declared passes as JSON and is refused where it is checked. */
  readonly members?: { readonly [name: string]: Plan }
}

export type FunctionPlan = {
  readonly args: readonly (Plan & { readonly name: string })[]
  /** Whether the last argument is an object of options, which some languages pass by name. */
  readonly hasOptions: boolean
  readonly ok: Plan
}

/** For what passes undeclared. */
export const jsonPlan: Plan = {
  strings: 'text',
  isJson: true,
  takesNull: true,
  holds: 'nothing',
}

const nothing: Plan = { strings: 'text', isJson: false, takesNull: false, holds: 'nothing' }

/** An RPC's reply: bytes as they are, nothing, or JSON. */
const replyPlan: Plan = { ...jsonPlan, strings: 'bytes' }

export function planFunction({ args, ok }: Pick<ScriptFunction, 'args' | 'ok'>): FunctionPlan {
  const named = Object.entries(args).map(([name, schema]) => {
    return { name, ...planOf(shapeOf(schema)) }
  })
  return {
    args: named,
    hasOptions: named.at(-1)?.name === 'options',
    ok: ok === undefined ? nothing : planOf(shapeOf(ok)),
  }
}

/** What a handler is called with, and what it answers, if that is looked at. */
export type HandlerPlan = { readonly args: readonly Plan[]; readonly answer: Plan | undefined }

export function planHandler({ args, answer }: Pick<ScriptHook, 'args' | 'answer'>): HandlerPlan {
  return {
    args: Object.values(args).map((schema) => planOf(shapeOf(schema))),
    answer: answerPlan(answer),
  }
}

function answerPlan(answer: ScriptHook['answer']): Plan | undefined {
  if (answer === 'reply') return replyPlan
  if (answer === 'state') return jsonPlan
  return answer && planOf(shapeOf(answer))
}

/** What the functions of timers are. */
export const taskPlan: HandlerPlan = { args: [], answer: undefined }

function planOf(shape: Shape): Plan {
  const { takesNull } = shape
  switch (shape.kind) {
    case 'bytes':
      return { ...nothing, strings: 'bytes', takesNull }
    case 'json':
      return { ...jsonPlan, takesNull }
    case 'object':
      return { ...nothing, takesNull, holds: 'object', members: mapValues(shape.members, planOf) }
    case 'list':
    case 'record':
      return { ...nothing, takesNull, holds: shape.kind, each: planOf(shape.each) }
    case 'one of':
      return { ...shape.options.map(planOf).reduce(either, nothing), takesNull }
    default:
      return { ...nothing, takesNull }
  }
}

/** What is one or the other: it has the members of both. */
function either(a: Plan, b: Plan): Plan {
  const members = a.members || b.members ? { ...a.members, ...b.members } : undefined
  const each = a.each ?? b.each
  return {
    strings: a.strings === 'bytes' ? 'bytes' : b.strings,
    isJson: a.isJson || b.isJson,
    takesNull: a.takesNull || b.takesNull,
    holds: a.holds === 'nothing' ? b.holds : a.holds,
    ...(each ? { each } : {}),
    ...(members ? { members } : {}),
  }
}

function mapValues<V, W>(from: Readonly<Record<string, V>>, to: (value: V) => W) {
  return Object.fromEntries(Object.entries(from).map(([name, value]) => [name, to(value)]))
}
