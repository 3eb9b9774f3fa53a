import { isIP, isIPv4 } from 'node:net'
import { parsePhc } from '../../kernel/auth/phc.ts'
import { parseAddress } from './address.ts'

/** What a text value must look like, with the words of the error. */
export type Format = {
  readonly allowed: string
  accepts(text: string): boolean
}

export const nonBlank: Format = {
  allowed: 'a text that is not blank',
  accepts: (text) => text.trim() !== '',
}

export const address: Format = {
  allowed: 'HOST:PORT, such as 127.0.0.1:7350 or [::1]:7350',
  accepts: (text) => parseAddress(text) !== undefined,
}

export const cidr: Format = {
  allowed: 'a range of addresses, such as 10.0.0.0/8 or fd00::/8',
  accepts(text) {
    const [, host, bits] = /^([^/%]+)\/(\d{1,3})$/.exec(text) ?? []
    if (host === undefined || isIP(host) === 0) return false
    return Number(bits) <= (isIPv4(host) ? 32 : 128)
  },
}

/** As browsers send it: scheme, host and a port that is not the scheme's own. */
export const origin: Format = {
  allowed: 'an exact origin, such as https://play.example.com',
  accepts(text) {
    if (!URL.canParse(text)) return false
    if (/^https?:/.test(text)) return new URL(text).origin === text
    return /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9.-]+(:\d{1,5})?$/.test(text)
  },
}

export const webTransportUrl: Format = {
  allowed: 'an address such as https://play.example.com:7351/v1/realtime',
  accepts(text) {
    if (!URL.canParse(text)) return false
    const { protocol, pathname, username, search, hash } = new URL(text)
    const isPlain = username === '' && search === '' && hash === ''
    return protocol === 'https:' && isPlain && ['/', '/v1/realtime'].includes(pathname)
  },
}

export const originOrAny: Format = {
  allowed: `${origin.allowed}, or * alone`,
  accepts: (text) => text === '*' || origin.accepts(text),
}

export const hostName: Format = {
  allowed: 'a DNS name in lower case, such as api.example.com',
  accepts: (text) =>
    text.length <= 253 &&
    /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/.test(text) &&
    !/(^|\.)\d+$/.test(text),
}

export const folderName: Format = {
  allowed: 'the name of a folder, such as common',
  accepts: (text) => /^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/.test(text) && text !== 'node_modules',
}

export const nodeId: Format = {
  allowed: '1 to 64 of A-Z a-z 0-9 . _ -',
  accepts: (text) => /^[A-Za-z0-9._-]{1,64}$/.test(text),
}

export const clusterId: Format = {
  allowed: '1 to 32 of a-z 0-9 -',
  accepts: (text) => /^[a-z0-9-]{1,32}$/.test(text),
}

const levels = '(trace|debug|info|warn|error)'
const logLevelPattern = new RegExp(`^${levels}(,[a-z][a-z0-9_.-]*=${levels})*$`)

export const logLevel: Format = {
  allowed: 'trace, debug, info, warn or error, then optional ,component=level pairs',
  accepts: (text) => logLevelPattern.test(text),
}

export const urlPath: Format = {
  allowed: 'a path that starts with / and has at most 128 characters',
  accepts: (text) => /^\/[A-Za-z0-9._~/-]{0,127}$/.test(text),
}

export const databaseUrl: Format = {
  allowed:
    'memory:, sqlite:PATH with the plain path of a file, or ' +
    'postgres://USER:PASSWORD@HOST:PORT/DATABASE',
  accepts(text) {
    if (text === 'memory:') return true
    if (text.startsWith('sqlite:')) return isPlainPath(text.slice('sqlite:'.length))
    return /^postgres(ql)?:\/\/./.test(text) && URL.canParse(text)
  },
}

/** SQLite's own names for other things than files would be taken for the names of files here. */
function isPlainPath(text: string): boolean {
  return /\S/.test(text) && !text.includes('\0') && !/^(?::memory:|file:)/i.test(text)
}

export const postgresUrl: Format = {
  allowed: 'postgres://USER:PASSWORD@HOST:PORT/DATABASE',
  accepts: (text) => /^postgres(ql)?:\/\/./.test(text) && URL.canParse(text),
}

export const natsUrls: Format = {
  allowed: 'nats://HOST:PORT or tls://HOST:PORT; several, comma separated',
  accepts: (text) => text.split(',').every((url) => isNatsUrl(url.trim())),
}

function isNatsUrl(text: string): boolean {
  return /^(nats|tls):\/\/./.test(text) && URL.canParse(text) && new URL(text).host !== ''
}

export const shortText: Format = {
  allowed: '1 to 128 bytes of text',
  accepts: (text) => nonBlank.accepts(text) && Buffer.byteLength(text) <= 128,
}

/** A password in plain text, or its verifier. A broken verifier is never taken as plain text. */
export const password: Format = {
  allowed: '1 to 1024 bytes of text, or a line that `guildhall hash-password` printed',
  accepts(text) {
    if (text.startsWith('$argon2')) return parsePhc(text) !== undefined
    return nonBlank.accepts(text) && Buffer.byteLength(text) <= 1024
  },
}

export const chainKey: Format = {
  allowed: 'at least 32 bytes of text',
  accepts: (text) => nonBlank.accepts(text) && Buffer.byteLength(text) >= 32,
}
