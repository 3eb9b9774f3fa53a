/** An answer that may be there at once, so that no caller waits in vain. */
export type Awaitable<T> = T | Promise<T>
