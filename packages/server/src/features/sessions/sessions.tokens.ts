import { createHmac, createSecretKey } from 'node:crypto'
import { sha256 } from '../../kernel/auth/sha256.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Ids } from '../../kernel/ids.ts'
import type { RefreshDigests } from './sessions.store.ts'

export type TokensDeps = {
  clock: Clock
  ids: Ids
  /** The deployment's: makes access tokens of refresh tokens. */
  secret: Uint8Array
  config: { access_ttl_sec: number; refresh_ttl_sec: number }
}

/**
 * The secrets of sessions. A refresh token is 256 random bits, and its access token the HMAC of it
 * under the deployment's secret: so one index finds a session by either, while nobody but a node
 * can make the one of the other. Only SHA-256 digests of both are stored.
 */
export function createTokens({ clock, ids, secret, config }: TokensDeps) {
  const key = createSecretKey(secret)

  function accessTokenOf(refreshToken: string): string {
    return `gh.access.${createHmac('sha256', key).update(refreshToken).digest('base64url')}`
  }

  return {
    /** Fresh secrets with both lifetimes starting now. */
    mint() {
      const refresh_token = ids.refreshToken()
      const token = accessTokenOf(refresh_token)
      const now = clock.nowUnixMs()
      return {
        token,
        refresh_token,
        now_unix_ms: now,
        access_digest: sha256(token),
        refresh_digest: sha256(refresh_token),
        access_expires_at_unix_ms: now + config.access_ttl_sec * 1000,
        refresh_expires_at_unix_ms: now + config.refresh_ttl_sec * 1000,
      }
    },

    /** What the session of a refresh token is found by. */
    refreshDigests: (refreshToken: string): RefreshDigests => ({
      refresh_digest: sha256(refreshToken),
      access_digest: sha256(accessTokenOf(refreshToken)),
    }),
  }
}
