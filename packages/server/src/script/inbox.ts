import type { ScriptConfig } from './config.ts'

/**
 * Counts the calls that the script has been given and has not settled, and their bytes. When they
 * reach a bound the inbox is full; it asks for a pause until it has drained to half.
 */
export type Inbox = {
  add(bytes: number): void
  remove(bytes: number): void
  calls(): number
  isFull(): boolean
  /** True from the moment it is full until it has drained to half. */
  congested(): boolean
  onceDrained(listener: () => void): void
  /** How often it has become full. */
  fullTotal(): number
}

export function createInbox(bounds: Pick<ScriptConfig, 'inbox_calls' | 'inbox_bytes'>): Inbox {
  let calls = 0
  let bytes = 0
  let congested = false
  let fullTotal = 0
  let listeners: (() => void)[] = []

  const isFull = () => calls >= bounds.inbox_calls || bytes >= bounds.inbox_bytes
  const isHalf = () => calls <= bounds.inbox_calls / 2 && bytes <= bounds.inbox_bytes / 2

  return {
    add(size) {
      calls += 1
      bytes += size
      if (congested || !isFull()) return
      congested = true
      fullTotal += 1
    },
    remove(size) {
      calls -= 1
      bytes -= size
      if (!congested || !isHalf()) return
      congested = false
      const waiting = listeners
      listeners = []
      for (const listener of waiting) listener()
    },
    calls: () => calls,
    isFull,
    congested: () => congested,
    onceDrained(listener) {
      if (congested) listeners.push(listener)
      else listener()
    },
    fullTotal: () => fullTotal,
  }
}
