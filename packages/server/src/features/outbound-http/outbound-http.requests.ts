import { isIP } from 'node:net'
import { fetchFailure } from './outbound-http.errors.ts'

/** What a script asks for; types and unknown members were refused before. */
export type FetchRequest = {
  url: string
  /** One of GET, HEAD, POST, PUT, PATCH, DELETE; default GET. */
  method?: string | undefined
  headers?: { readonly [name: string]: string } | undefined
  /** At most 64 KiB; a string is sent as UTF-8. */
  body?: Uint8Array | string | undefined
  /** At most 5,000, which is the default. */
  timeout_ms?: number | undefined
}

export type TargetRules = {
  /** Empty allows every public host; otherwise exact names in lower case. */
  allowed_hosts: readonly string[]
  allowed_ports: readonly number[]
}

/** A request that passed every check that needs no network. */
export type CheckedRequest = {
  isSecure: boolean
  host: string
  port: number
  /** Path and query as they are sent. */
  path: string
  method: string
  headers: Record<string, string>
  body: Uint8Array | undefined
  timeoutMs: number
}

const methods: readonly string[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']
const requestBytesMax = 65_536
/** Bounds of the headers of a request, and of those of a response. */
export const headersMax = 64
export const headerBytesMax = 16_384
/** Longest time of a request with its response, in milliseconds. */
export const fetchTimeoutMs = 5000

/** @throws ScriptFailure with the first rule that the request breaks */
export function checkRequest(request: FetchRequest, rules: TargetRules): CheckedRequest {
  const method = request.method ?? 'GET'
  if (!methods.includes(method)) throw fetchFailure('invalid_method')
  const target = checkTarget(request.url, rules)
  const body = typeof request.body === 'string' ? Buffer.from(request.body) : request.body
  if (body !== undefined && body.byteLength > requestBytesMax) {
    throw fetchFailure('request_too_large')
  }
  return {
    ...target,
    method,
    headers: checkHeaders(request.headers ?? {}),
    body,
    timeoutMs: Math.min(fetchTimeoutMs, Math.max(1, request.timeout_ms ?? fetchTimeoutMs)),
  }
}

type Target = Pick<CheckedRequest, 'isSecure' | 'host' | 'port' | 'path'>

/** DNS names: labels of letters, digits, hyphens and underscores. */
const dnsName = /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_-]{1,63}$/

function checkTarget(text: string, { allowed_hosts, allowed_ports }: TargetRules): Target {
  const url = URL.parse(text)
  if (url === null) throw fetchFailure('invalid_url')
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw fetchFailure('invalid_scheme')
  if (url.username !== '' || url.password !== '') throw fetchFailure('url_credentials_forbidden')
  const host = url.hostname.replace(/\.$/, '')
  if (isIP(host.replace(/^\[|\]$/g, '')) !== 0) throw fetchFailure('ip_literal_forbidden')
  if (!dnsName.test(host)) throw fetchFailure('invalid_url')
  const isSecure = url.protocol === 'https:'
  const port = url.port === '' ? (isSecure ? 443 : 80) : Number(url.port)
  if (!allowed_ports.includes(port)) throw fetchFailure('port_forbidden')
  if (allowed_hosts.length > 0 && !allowed_hosts.includes(host)) {
    throw fetchFailure('host_forbidden')
  }
  return { isSecure, host, port, path: `${url.pathname}${url.search}` }
}

/** Headers that belong to the connection. */
const ownHeaders: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'upgrade',
  'te',
  'trailer',
])
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** Visible Latin-1, blanks and tabs. */
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/

function checkHeaders(headers: FetchRequest['headers'] & {}): Record<string, string> {
  const entries = Object.entries(headers)
  const checked: Record<string, string> = Object.create(null)
  let bytes = 0
  for (const [name, value] of entries) {
    const lower = name.toLowerCase()
    const isOwn = ownHeaders.has(lower) || lower.startsWith('proxy-')
    if (isOwn || !headerName.test(name) || !headerValue.test(value) || lower in checked) {
      throw fetchFailure('invalid_header')
    }
    checked[lower] = value
    bytes += name.length + value.length + ': \r\n'.length
  }
  if (entries.length > headersMax || bytes > headerBytesMax) {
    throw fetchFailure('headers_too_large')
  }
  return checked
}
