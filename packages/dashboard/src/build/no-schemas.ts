/**
 * Stands for zod in the page, which checks nothing itself: the server does. Of the route table only
 * what is no schema is left, a quarter of the page is saved, and no library tries `eval`.
 */
const nothing: object = new Proxy(() => nothing, { get: () => nothing, apply: () => nothing })

export const z = nothing
