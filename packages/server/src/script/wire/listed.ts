import type { HostCall, HostResult, Refusal } from './protocol.ts'

/*
 * Calls of the worker and their results travel as one list of what they have: the names of their
 * members would be most of their bytes, and most of the time that V8 takes to write and read them.
 */
const callItems = 5
const resultItems = 3
const kept = 'kept'

export function listOfCalls(calls: readonly HostCall[]): unknown[] {
  const list: unknown[] = []
  for (let n = 0; n < calls.length; n += 1) {
    const call = calls[n]
    if (!call) continue
    const at = list.length
    list[at] = call.id
    list[at + 1] = call.invocation
    list[at + 2] = call.room_id
    list[at + 3] = call.name
    list[at + 4] = call.args
  }
  return list
}

/** Calls of which only the number is checked. Ends at the first hole: a list may say any length. */
export function callsOf(list: unknown): unknown[] {
  const items = itemsOf(list)
  const calls: unknown[] = []
  for (let at = 0; at < items.length; at += callItems) {
    calls[calls.length] = {
      id: numberAt(items, at),
      invocation: items[at + 1],
      room_id: items[at + 2],
      name: items[at + 3],
      args: items[at + 4],
    }
  }
  return calls
}

export function listOfResults(results: readonly HostResult[]): unknown[] {
  const list: unknown[] = []
  for (let n = 0; n < results.length; n += 1) {
    const result = results[n]
    if (!result) continue
    const at = list.length
    list[at] = result.id
    list[at + 1] = result.ok && result.kept ? kept : result.ok
    list[at + 2] = result.ok ? result.value : refusalOf(result)
  }
  return list
}

export function resultsOf(list: unknown): unknown[] {
  const items = itemsOf(list)
  const results: unknown[] = []
  for (let at = 0; at < items.length; at += resultItems) {
    const id = numberAt(items, at)
    const value = items[at + 2]
    const how = items[at + 1]
    if (how === kept) results[results.length] = { id, ok: true, value, kept: true }
    else if (how === true) results[results.length] = { id, ok: true, value }
    else results[results.length] = { id, ok: false, ...(value as Refusal) }
  }
  return results
}

function refusalOf({ id: _, ok: __, ...refusal }: HostResult & { ok: false }): Refusal {
  return refusal
}

function itemsOf(list: unknown): unknown[] {
  if (list === undefined) return []
  if (!Array.isArray(list)) throw new RangeError('what is no list')
  return list
}

function numberAt(items: readonly unknown[], at: number): number {
  const item = items[at]
  if (typeof item !== 'number') throw new RangeError('a list has a hole')
  return item
}
