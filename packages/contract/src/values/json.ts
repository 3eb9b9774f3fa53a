/** A JSON value as the server keeps it: integers beyond 2^53 - 1 are bigint. */
export type Json = null | boolean | number | bigint | string | Json[] | JsonObject
export type JsonObject = { [name: string]: Json }
