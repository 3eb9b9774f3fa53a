import { z } from 'zod'
import { freeObject, isBlank, label, optional, text, trimmed, utf8Bytes } from '../values/fields.ts'
import { once } from '../values/once.ts'
import { defineApi } from './route.ts'
import { SessionTokens } from './sessions.ts'

/** Fields that a registration needs besides its credential. */
const registration = {
  create: optional(z.boolean()).meta({
    jsonSchema: {
      type: 'boolean',
      default: false,
      description: 'True registers an unknown credential; then username is required',
    },
  }),
  username: optional(label(128)),
  display_name: optional(label(255)),
  metadata: optional(freeObject),
}

function registrationIsNamed(body: {
  create?: boolean | undefined
  username?: string | undefined
}) {
  return body.create !== true || body.username !== undefined
}
const namedRegistration = {
  error: 'is required when create is true',
  path: ['username'],
}

/** Signs in by an id that the game's client keeps: a device's or the studio's own. */
export const CredentialSignIn = once(() =>
  z
    .strictObject({ id: label(128), ...registration })
    .refine(registrationIsNamed, namedRegistration),
)
export type CredentialSignIn = z.output<ReturnType<typeof CredentialSignIn>>

/** Signs in by email address and password. */
export const EmailSignIn = once(() =>
  z
    .strictObject({
      email: emailAddress(),
      password: text(
        isPassword,
        'must be 8..1024 bytes without control characters, not only white space',
        { minLength: 8, maxLength: 1024 },
      ),
      ...registration,
    })
    .refine(registrationIsNamed, namedRegistration),
)
export type EmailSignIn = z.output<ReturnType<typeof EmailSignIn>>

const signIn = {
  method: 'POST',
  access: 'public',
  noStore: true,
  crossOrigin: true,
  ok: SessionTokens,
  status: [200, 201],
  errors: ['authentication_failed', 'conflict', 'rate_limited'],
} as const

export const signInApi = defineApi({
  device: {
    ...signIn,
    path: '/v1/auth/device',
    summary: 'Signs in, or registers, by device id',
    body: CredentialSignIn,
  },
  custom: {
    ...signIn,
    path: '/v1/auth/custom',
    summary: 'Signs in, or registers, by an id of the studio',
    body: CredentialSignIn,
  },
  email: {
    ...signIn,
    path: '/v1/auth/email',
    summary: 'Signs in, or registers, by email address and password',
    body: EmailSignIn,
  },
})

/** Trimmed and ASCII-lower-cased before it is checked, so that one person has one address. */
export function emailAddress() {
  return z
    .string()
    .transform((sent) => asciiLowerCase(trimmed(sent)))
    .refine(isEmailAddress, { error: 'must be an email address of at most 254 ASCII bytes' })
    .meta({ jsonSchema: { type: 'string', format: 'email', maxLength: 254 } })
}

function asciiLowerCase(value: string): string {
  return value.replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase())
}

function isEmailAddress(value: string): boolean {
  if (value.length > 254 || !/^[\x21-\x7e]+$/.test(value)) return false
  const [local, domain, ...more] = value.split('@')
  if (!local || !domain || more.length > 0) return false
  return domain.includes('.') && !domain.startsWith('.') && !domain.endsWith('.')
}

function isPassword(value: string): boolean {
  const bytes = utf8Bytes(value)
  return bytes >= 8 && bytes <= 1024 && !isBlank(value) && !/\p{Cc}/u.test(value)
}
