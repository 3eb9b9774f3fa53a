import { boolean, integer, pathUnset, string, strings } from '../key.ts'
import { address, cidr, originOrAny } from '../values/formats.ts'

export const http = {
  bind: string(
    '127.0.0.1:7350',
    address,
    'Address of the HTTP listener. Beyond loopback it needs TLS and console credentials of ' +
      'your own. Port 0 takes a free port.',
  ),
  behind_tls_proxy: boolean(false, 'Declares that a proxy ends TLS; adds HSTS.'),
  trusted_proxies: strings(64, cidr, 'Peers whose X-Forwarded-For is believed.'),
  openapi: boolean(true, 'Serves the OpenAPI document.'),
  cors_origins: strings(
    64,
    originOrAny,
    'Browser origins that may call the player routes and read /status.',
  ),
  max_connections: integer(
    10_000,
    [16, 1_000_000],
    'Connections that are not upgraded; one more is closed at accept.',
  ),
  headers_timeout_ms: integer(5_000, [500, 60_000], 'Time for the headers of a request.'),
  request_timeout_ms: integer(
    30_000,
    [1_000, 600_000],
    'Time for a whole request, including its body.',
  ),
  write_timeout_ms: integer(
    30_000,
    [1_000, 600_000],
    'A connection whose client takes no byte of an answer for so long is closed.',
  ),
  keep_alive_timeout_ms: integer(65_000, [1_000, 600_000], 'Life of an idle connection.'),
  tls: {
    certificate_file: pathUnset('Certificate chain in PEM, leaf first; with its private key.'),
    private_key_file: pathUnset('Private key in PEM (PKCS#8, PKCS#1 or SEC1).'),
    reload_interval_ms: integer(
      60_000,
      [1_000, 3_600_000],
      'How often the two files are looked at for a change.',
    ),
  },
}
