import { limits } from '../../wire/limits.ts'
import { expectText } from '../arguments.ts'
import { FailSignal, invalidArgument } from '../errors.ts'
import { type BindingHost, callerOf } from './binding-host.ts'

/** The way for an RPC handler to fail with a text of its own. */
export function createFailingBindings(host: BindingHost) {
  return {
    fail(text: unknown): never {
      callerOf(host)
      const bytes = typeof text === 'string' ? Buffer.byteLength(text) : 0
      if (typeof text !== 'string' || bytes === 0 || bytes > limits.failTextBytes) {
        throw invalidArgument('fail: text must be 1 to 256 bytes')
      }
      expectText(text)
      throw new FailSignal(text)
    },
  }
}
