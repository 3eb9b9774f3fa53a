import { fork } from 'node:child_process'
import type { ServeOptions } from '../cli/run-command.ts'
import { exitCodes, printLines } from '../cli/terminal.ts'
import { farewellLine, welcomeLines } from '../cli/welcome.ts'
import type { LoadedConfig } from '../config/load.ts'
import { type Binds, nodeIdsOf } from '../config/processes.ts'
import type { Config } from '../config/schema.ts'
import { parseAddress } from '../config/values/address.ts'
import { type Clock, createSystemClock } from '../kernel/clock.ts'
import type { CertificatePair } from '../kernel/http/connection/certificates.ts'
import { newBootId, pooledRandomness } from '../kernel/ids.ts'
import {
  developmentCertificateLifeMs,
  makeDevelopmentCertificate,
} from '../realtime/connection/transports/quic/certificate/development-certificate.ts'
import { version } from '../version.ts'
import { whenLeftByNpm } from './left-by-npm.ts'
import type { Begin, FromProcess, ReadyFacts, ToProcess } from './messages.ts'
import { numberVariable } from './parent-line.ts'
import { type ProcessEvents, ProcessGroup, type RunningProcess } from './process-group.ts'
import { logConfig, openProcessLog } from './process-log.ts'
import { printReadyLine } from './ready-line.ts'

/**
 * Runs several nodes behind the same addresses, each in a process of its own, until a signal ends
 * them; resolves to the exit code. This process opens no socket and no database.
 */
export async function serveProcesses(
  loaded: LoadedConfig,
  host: NodeJS.Process,
  options: ServeOptions,
): Promise<number> {
  const { config } = loaded
  const clock = createSystemClock()
  const parts = { clock, bootId: newBootId(), isAsked: options.log, stderr: host.stderr }
  const { writer, isForPerson } = openProcessLog(loaded, parts)
  const { log } = writer
  logConfig(loaded, log)
  // The reader of the ready line may be gone: that is no reason not to serve.
  host.stdout.on('error', () => undefined)
  const configured = { http: config.http.bind, quic: config.transport.quic.bind }
  const nodeIds = nodeIdsOf(config.server)
  const certificates = developmentCertificates(config, clock)
  const processes = new Map<number, ForkedProcess>()
  certificates?.onRenewed((certificate) => {
    for (const process of processes.values()) process.send({ certificate })
  })
  const group = new ProcessGroup({
    count: config.server.processes,
    clock,
    binds: arePortsKnown(config) ? configured : undefined,
    bindsOf: (facts) => bindsOf(facts, configured),
    start(number, binds = configured, events) {
      const begin = { number, binds, certificate: certificates?.current() }
      const process = forkProcess(host, begin, events)
      processes.set(number, process)
      return process
    },
    onReady(all) {
      const [first] = all
      if (first === undefined) return
      printReadyLine(joined(all, first), config.logging, host.stdout)
      if (isForPerson) printLines(host.stderr, welcomeLines({ ...first, config, version }))
    },
    onDied: (number, exit_code, delay_ms) => {
      const process = nodeIds[number - 1]
      log.warn('a process has ended and is started again', { process, exit_code, delay_ms })
      writer.flush()
    },
  })
  const end = (signal: NodeJS.Signals) => {
    if (isForPerson) printLines(host.stderr, [farewellLine])
    group.signal(signal)
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) host.on(signal, () => end(signal))
  host.on('SIGHUP', () => group.hangUp())
  whenLeftByNpm(host, clock, () => end('SIGTERM'))
  const code = await group.run()
  writer.flush()
  return code
}

function arePortsKnown({ http, transport: { quic } }: Config): boolean {
  const binds = [http.bind, ...(quic.enabled ? [quic.bind] : [])]
  return binds.every((bind) => parseAddress(bind)?.port !== 0)
}

function bindsOf({ url, transportAddresses }: ReadyFacts, configured: Binds): Binds {
  const { quic = 'off' } = transportAddresses
  const http = url.slice(url.indexOf('//') + 2)
  return { http, quic: quic === 'off' ? configured.quic : quic }
}

/** What the ready line says of all: they differ in their ids alone. */
function joined(all: readonly ReadyFacts[], first: ReadyFacts): ReadyFacts {
  return {
    ...first,
    node_id: all.map(({ node_id }) => node_id).join(','),
    boot_id: all.map(({ boot_id }) => boot_id).join(','),
  }
}

/**
 * The certificate of QUIC where none is configured. A browser pins its hash, which any process may
 * have given it, so all have the same.
 */
function developmentCertificates({ http, transport }: Config, clock: Clock) {
  const isConfigured = transport.tls.certificate_file ?? http.tls.certificate_file
  if (!transport.quic.enabled || isConfigured !== undefined) return undefined
  const make = () => makeDevelopmentCertificate(clock, { bytes: pooledRandomness() })
  let current = make()
  return {
    current: () => current,
    onRenewed(take: (pair: CertificatePair) => void) {
      clock.every(developmentCertificateLifeMs, () => {
        current = make()
        take(current)
      })
    },
  }
}

type ForkedProcess = RunningProcess & { send(message: ToProcess): void }

/** Starts this program once more, as one of several. */
function forkProcess(host: NodeJS.Process, begin: Begin, events: ProcessEvents): ForkedProcess {
  const [, program = '', ...args] = host.argv
  const child = fork(program, args, {
    env: { ...host.env, [numberVariable]: String(begin.number) },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  // For one that has just ended the end is reported.
  const send = (message: ToProcess) => void child.send(message, () => {})
  child.on('message', (message: FromProcess) => events.ready(message.ready))
  let hasEnded = false
  const ended = (code: number) => {
    if (hasEnded) return
    hasEnded = true
    events.ended(code)
  }
  child.once('exit', (code) => ended(code ?? exitCodes.failure))
  child.once('error', () => ended(exitCodes.failure))
  send({ begin })
  return {
    send,
    signal: (signal) => send({ signal }),
    hangUp: () => void child.kill('SIGHUP'),
  }
}
