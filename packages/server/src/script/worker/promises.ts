import { isPromise } from 'node:util/types'

const promiseThen = Promise.prototype.then

/** The promise that a handler returned, also when it is one of another make. */
export function asPromise(result: unknown): Promise<unknown> | undefined {
  if (typeof result !== 'object' || result === null) return undefined
  if (isPromise(result)) return result
  if (!('then' in result) || typeof result.then !== 'function') return undefined
  return new Promise((resolve) => resolve(result))
}

/** Like `promise.then(...)`, with the engine's own `then` whatever the script made of it. */
export function settleWith(
  promise: Promise<unknown>,
  fulfilled: (value: unknown) => void,
  rejected: (error: unknown) => void,
): void {
  Reflect.apply(promiseThen, promise, [fulfilled, rejected])
}
