/** Events of one kind, from a part of the node to those that are built after it. */
export type Topic<T> = {
  /** Calls every listener, in the order in which they subscribed. */
  publish(event: T): void
  subscribe(listener: (event: T) => void): void
}

/**
 * Makes a topic without listeners.
 *
 * @example
 * const revoked = createTopic<readonly string[]>()
 * revoked.subscribe((sessionIds) => gateway.closeSessions(sessionIds))
 * revoked.publish(['s1'])
 */
export function createTopic<T>(): Topic<T> {
  const listeners: ((event: T) => void)[] = []
  return {
    publish(event) {
      for (const listener of listeners) listener(event)
    },
    subscribe(listener) {
      listeners.push(listener)
    },
  }
}
