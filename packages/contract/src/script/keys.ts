import { key } from '../values/fields.ts'

/** Names a call that must not be done twice: 1..128 bytes without control characters. */
export const idempotencyKey = key(128)
