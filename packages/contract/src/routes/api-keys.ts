import { z } from 'zod'
import { hasControlCharacter, text, trimmed, unixMs, utf8Bytes } from '../values/fields.ts'
import { once } from '../values/once.ts'
import { scopes } from './principals.ts'
import { defineApi } from './route.ts'

/** What is known of a machine credential; its secret is shown once and never stored. */
export const ApiKey = once(() =>
  z.strictObject({
    id: z.string().meta({ description: '32 lower-case hex digits' }),
    name: z.string(),
    scopes: z.array(z.enum(scopes)),
    generation: z.int().min(1),
    created_at: unixMs,
    expires_at: unixMs.nullable(),
    revoked_at: unixMs.nullable(),
    last_used_at: unixMs.nullable(),
    status: z.enum(['active', 'expired', 'revoked']),
  }),
)
export type ApiKey = z.output<ReturnType<typeof ApiKey>>

const KeyWithSecret = once(() =>
  z.strictObject({
    key: ApiKey(),
    secret: z.string().meta({ description: 'The full value; it is shown only here' }),
  }),
)

const name = z
  .string()
  .transform(trimmed)
  .refine((value) => value !== '' && utf8Bytes(value) <= 128 && !hasControlCharacter(value), {
    error: 'must be 1..128 bytes without control characters',
  })
  .meta({ jsonSchema: { type: 'string', minLength: 1, maxLength: 128 } })

const NewApiKey = once(() =>
  z.strictObject({
    name,
    scopes: z.array(z.enum(scopes)).min(1).max(scopes.length),
    expires_at: unixMs.nullish(),
  }),
)

const keyPath = once(() =>
  z.strictObject({
    id: text((value) => /^[0-9a-f]{32}$/.test(value), 'must be 32 lower-case hex digits', {
      pattern: '^[0-9a-f]{32}$',
    }),
  }),
)
const Generation = once(() => z.strictObject({ generation: z.int().min(1) }))

export const apiKeysApi = defineApi({
  list: {
    method: 'GET',
    path: '/console/v1/api-keys',
    access: 'admin',
    scope: 'no key',
    summary: 'All machine credentials, newest first',
    ok: () => z.strictObject({ keys: z.array(ApiKey()) }),
  },
  create: {
    method: 'POST',
    path: '/console/v1/api-keys',
    access: 'admin',
    audit: 'api_keys.create',
    summary: 'Makes a machine credential; its secret is in this answer only',
    body: NewApiKey,
    ok: KeyWithSecret,
    answerHoldsSecret: true,
    status: 201,
    errors: ['conflict'],
  },
  get: {
    method: 'GET',
    path: '/console/v1/api-keys/{id}',
    access: 'admin',
    scope: 'no key',
    summary: 'One machine credential',
    params: keyPath,
    ok: ApiKey,
    errors: ['not_found'],
  },
  rotate: {
    method: 'POST',
    path: '/console/v1/api-keys/{id}/rotate',
    access: 'admin',
    audit: 'api_keys.rotate',
    summary: 'Replaces the secret of the given generation; the old one stops',
    params: keyPath,
    body: Generation,
    ok: KeyWithSecret,
    answerHoldsSecret: true,
    errors: ['not_found', 'conflict'],
  },
  revoke: {
    method: 'POST',
    path: '/console/v1/api-keys/{id}/revoke',
    access: 'admin',
    audit: 'api_keys.revoke',
    summary: 'Ends the credential for good',
    params: keyPath,
    body: Generation,
    ok: ApiKey,
    errors: ['not_found', 'conflict'],
  },
})
