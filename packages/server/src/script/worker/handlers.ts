import { Buffer } from 'node:buffer'
import { once, parseExact } from '@guildhall/contract'
import type { CallRecord } from '../wire/call-records.ts'
import { hookCode, hooksByCode } from '../wire/hooks.ts'
import { limits } from '../wire/limits.ts'
import { copyJson, expectReply, toJson } from './arguments.ts'
import { context, messageContext, rpcContext } from './contexts.ts'
import { type Ending, noReply, status, timedOut, tooLarge } from './endings.ts'
import type { Engine } from './engines/engine.ts'
import { errorText, FailSignal, Interrupted } from './errors.ts'
import type { Invocation } from './invocation.ts'
import type { Output } from './output.ts'
import type { Registry } from './registry.ts'
import type { StateRooms } from './rooms/state-rooms.ts'
import type { Timers } from './timers.ts'

type Deps = { registry: Registry; timers: Timers; rooms: StateRooms }

/** Runs the script's handler for a call, if it has one. */
export function callHandler({ registry, timers, rooms }: Deps, call: CallRecord): unknown {
  const handled = rooms.handle(call)
  if (handled !== undefined) return handled.value
  const hook = hooksByCode[call.hook]
  if (hook === undefined) return timers.take(call.detail)?.()
  switch (hook.row.form) {
    case 'message':
      return registry.kinds[call.detail]?.(messageContext(call), call.body)
    case 'rpc':
      return registry.methods[call.text ?? '']?.(rpcContext(call), call.body)
    case 'context':
      return registry.hooks[hook.name]?.(contextWith(call))
    case 'payload':
      if (hook.row.slot === 'index') return runFilter(registry, call)
      if (hook.row.slot === 'cron') return runSchedule(registry, call)
      return registry.hooks[hook.name]?.(payloadOf(call))
    case 'request':
      return registry.hooks[hook.name]?.(context(call), payloadOf(call))
    case 'room':
      return runRoomHook(registry.hooks[hook.name], call)
    case 'tick':
      return registry.hooks[hook.name]?.(call.detail, call.room_id)
  }
}

/** What becomes of the value that a handler returns, by the code of its hook. */
const answerForms = Array.from(hooksByCode, (hook) =>
  once(() => {
    const answer = hook?.row.answer
    if (answer === undefined) return 'none'
    return typeof answer === 'string' ? answer : 'json'
  }),
)

/** Whether the handler must return a value, not a promise. */
export function isImmediate(call: CallRecord): boolean {
  return hooksByCode[call.hook]?.row.immediate === true
}

/**
 * Whether `guildhall.fail` ends the handler as its author wants: the client of an RPC reads it, and
 * a hook that answers nothing just drops what it has done.
 */
function mayFail(call: CallRecord): boolean {
  return call.hook === hookCode.on_rpc || answerForms[call.hook]?.() === 'none'
}

/**
 * What a handler returned as it is sent, if its hook answers: `answerEnding` takes it. Throws what
 * the value's `toJSON` throws.
 */
export function encodeAnswer(call: CallRecord, value: unknown): Uint8Array | string | undefined {
  if (isStateMade(call)) return answerText(value)
  switch (answerForms[call.hook]?.()) {
    case 'reply':
      return encodeReply(value)
    case 'json':
      return answerText(value)
    case 'state':
      return stateText(value)
    default:
      return undefined
  }
}

const { byteLength, compare: compareBytes } = Buffer

/** Places what `encodeAnswer` gave, unless that is too large, or the node has given it. */
export function answerEnding(
  { call, answered }: Pick<Invocation, 'call' | 'answered'>,
  answer: Uint8Array | string | undefined,
  output: Output,
): Ending {
  if (answer === undefined || call === undefined) return noReply
  if (answered && answer instanceof Uint8Array && compareBytes(answer, answered.bytes) === 0) {
    return { status: status.ok, length: 0, handed: answered.call }
  }
  const isState = answerForms[call.hook]?.() === 'state'
  const bytesMax = isState ? limits.stateBytes : limits.replyBytes
  const length = answer.length > bytesMax ? byteLength(answer) : output.place(answer)
  return length > bytesMax ? tooLarge(length, bytesMax) : { status: status.ok, length }
}

/** What a handler threw, or its timeout. */
export function errorEnding(
  error: unknown,
  call: CallRecord | undefined,
  { engine, output }: { engine: Pick<Engine, 'describe'>; output: Output },
): Ending {
  if (error instanceof Interrupted) return timedOut
  const chosen = FailSignal.read(error)
  if (chosen !== undefined && call && mayFail(call)) {
    const { text, more } = chosen
    return { status: status.failed_with_text, length: output.place(more), text }
  }
  const place = engine.describe(error)
  if (chosen !== undefined) place.message += ' (this handler answers by what it returns)'
  return { status: status.error, length: 0, text: errorText(place) }
}

/** Whether the node waits for the state of a room. */
export function isStateMade({ hook }: CallRecord): boolean {
  return hook === hookCode.state_create || hook === hookCode.state_restore
}

/** An RPC's reply: bytes, text, nothing, or any other value as JSON. */
function encodeReply(value: unknown): Uint8Array | string | undefined {
  if (value === undefined || value === null) return undefined
  if (value instanceof Uint8Array || typeof value === 'string') return value
  expectReply(value)
  const text = toJson(value)
  if (typeof text !== 'string') throw new TypeError('the reply is neither bytes, text nor JSON')
  return text
}

/** What a hook of rooms answers; only nothing is null, and not a NaN or a function. */
function answerText(value: unknown): string {
  if (value === undefined || value === null) return 'null'
  // As JSON each byte would be a member of an object.
  const text = value instanceof Uint8Array ? undefined : toJson(value)
  if (text === undefined || text === 'null') throw new TypeError('the answer is no JSON')
  return text
}

/** What on_unload hands over: JSON as `json.encode` takes it. */
function stateText(value: unknown): string {
  if (value === undefined || value === null) return 'null'
  return toJson(copyJson('on_unload', value)) ?? 'null'
}

/** What the node wrote; integers that a number cannot hold exactly are bigint. */
function parse(text: string): Payload {
  return parseExact(text) as Payload
}

/** The node writes objects only. */
type Payload = {
  name?: string
  index?: string
  candidate?: unknown
  options?: unknown
  about?: unknown
}

/** What the call is about, as the node wrote it. */
function payloadOf(call: CallRecord): unknown {
  return parse(call.text ?? 'null')
}

function runFilter(registry: Registry, call: CallRecord): unknown {
  const { index = '', candidate } = parse(call.text ?? '{}')
  const verdict = registry.filters[index]?.(candidate)
  // Also a promise, which nothing would wait for.
  if (typeof verdict !== 'boolean') throw new TypeError('a filter returns true or false, at once')
  return verdict
}

function runSchedule({ schedules }: Registry, call: CallRecord): unknown {
  const run = parse(call.text ?? '{}')
  return schedules[run.name ?? '']?.run(run)
}

function runRoomHook(handler: ((...args: unknown[]) => unknown) | undefined, call: CallRecord) {
  const { options, about } = parse(call.text ?? '{}')
  return handler?.({ ...context(call), options }, about)
}

function contextWith(call: CallRecord): object {
  return call.text === null ? context(call) : { ...context(call), ...parse(call.text) }
}
