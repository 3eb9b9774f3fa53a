import { plainFailure } from '@guildhall/contract'
import { writeFailure } from '../../wire/failure.ts'
import { limits } from '../../wire/limits.ts'
import { copyJson, expectText, toJson } from '../arguments.ts'
import { FailSignal, invalidArgument } from '../errors.ts'
import { type BindingHost, callerOf } from './binding-host.ts'

/** The way for an RPC handler to fail with a text of its own. */
export function createFailingBindings(host: BindingHost) {
  return {
    fail(text: unknown, options: unknown): never {
      callerOf(host)
      const bytes = typeof text === 'string' ? Buffer.byteLength(text) : 0
      if (typeof text !== 'string' || bytes === 0 || bytes > limits.failTextBytes) {
        throw invalidArgument('fail: text must be 1 to 256 bytes')
      }
      expectText(text)
      throw new FailSignal(text, options === undefined || options === null ? '' : moreOf(options))
    },
  }
}

/** Code and data of a failure as they travel. */
function moreOf(options: unknown): string {
  if (typeof options !== 'object' || options === null)
    throw invalidArgument('fail: options must be an object')
  const { code, data, ...others } = options as { code?: unknown; data?: unknown }
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw invalidArgument(`fail: there is no option ${unknown}`)
  const given = code ?? plainFailure.code
  if (typeof given !== 'string' || !/^[a-z0-9_.]{1,64}$/.test(given)) {
    throw invalidArgument('fail: code must be 1 to 64 of a to z, 0 to 9, "_" and "."')
  }
  const json = toJson(copyJson('fail', data ?? null, 'data')) ?? 'null'
  if (Buffer.byteLength(json) > limits.failDataBytes) {
    throw invalidArgument('fail: data must be at most 4096 bytes of JSON')
  }
  return writeFailure(given, json)
}
