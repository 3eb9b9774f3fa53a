/** An answer that may be there at once, so that nobody waits for nothing. */
export type Awaitable<T> = T | Promise<T>
