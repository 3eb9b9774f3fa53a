import { boolean, integer, operators, secret, secretUnset, string, stringUnset } from '../key.ts'
import { password, shortText } from '../values/formats.ts'

export const sessions = {
  access_ttl_sec: integer(3_600, [60, 86_400], 'Life of an access token.'),
  refresh_ttl_sec: integer(
    2_592_000,
    [300, 31_536_000],
    'Life of a refresh token, restarted by each refresh; longer than that of an access token.',
  ),
  revoke_on_replay: boolean(false, 'Replay of a rotated refresh token ends its session family.'),
}

export const authentication = {
  limits: {
    source: admission(30, 60_000, 'Player authentications per source address'),
    email: admission(10, 900_000, 'Email logins per email address'),
    registration_source: admission(
      10,
      3_600_000,
      'Sign-ins with `create`, also those that register nobody, per source address',
    ),
    console_login: admission(10, 300_000, 'Failed console logins per source and username'),
    console_login_source: admission(30, 300_000, 'Failed console logins per source'),
  },
  hashing: {
    memory_kib: integer(
      19_456,
      [8_192, 1_048_576],
      'Argon2id memory of new verifiers; weaker ones are replaced at the next login.',
    ),
    iterations: integer(2, [1, 20], 'Argon2id passes of new verifiers.'),
    parallelism: integer(1, [1, 16], 'Argon2id lanes of new verifiers.'),
    concurrency: integer(
      0,
      [0, 256],
      'Hashes that are made at the same time; 0 = half the cores, at least 1.',
    ),
    queue: integer(256, [1, 65_536], 'Hashes that may wait; one more is refused with 429.'),
  },
}

export const console = {
  username: string('admin', shortText, 'Name of the operator with the admin role.'),
  password: secret('password', password, 'Its password, in plain text or as a verifier.'),
  viewer_username: stringUnset(
    shortText,
    'Name of the operator with the viewer role; unset, the same name as the admin.',
  ),
  viewer_password: secretUnset(password, 'Password of the viewer; unset, there is none.'),
  operators: operators(100, 'Operators with names of their own, beside these two.'),
  token_expiry_sec: integer(3_600, [60, 604_800], 'Life of a console token.'),
}

function admission(limit: number, windowMs: number, doc: string) {
  return {
    limit: integer(limit, [1, 1_000_000], `${doc}, in one window.`),
    window_ms: integer(windowMs, [1, 86_400_000], 'Length of that window.'),
  }
}
