import { ScriptFailure } from '../../kernel/play/script.ts'

/** Why a request was not made, or has no response. */
export type FetchFailure =
  | 'capability_disabled'
  | 'invalid_scheme'
  | 'invalid_url'
  | 'url_credentials_forbidden'
  | 'ip_literal_forbidden'
  | 'host_forbidden'
  | 'port_forbidden'
  | 'private_address_forbidden'
  | 'resolution_failed'
  | 'invalid_method'
  | 'invalid_header'
  | 'headers_too_large'
  | 'request_too_large'
  | 'response_too_large'
  | 'concurrent_limit_reached'
  | 'rate_limit_reached'
  | 'timeout'
  | 'request_failed'

/** A request that failed. The message names the reason only: no address, header or body. */
export function fetchFailure(reason: FetchFailure): ScriptFailure {
  return new ScriptFailure('http_error', `the request failed: ${reason}`, reason)
}
