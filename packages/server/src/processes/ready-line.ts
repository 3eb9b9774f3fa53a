import { printLines, type TextOutput } from '../cli/terminal.ts'
import type { Config } from '../config/schema.ts'
import { version } from '../version.ts'
import type { ReadyFacts } from './messages.ts'

/** The one line on standard output, with the real ports. */
export function printReadyLine(
  { url, transportAddresses, backend, node_id, boot_id }: ReadyFacts,
  { format }: Config['logging'],
  stdout: TextOutput,
): void {
  const facts = { http: url, ...transportAddresses, backend, node_id, boot_id }
  const line =
    format === 'json'
      ? JSON.stringify({ event: 'ready', version, ...facts })
      : `guildhall ${version} ready ${Object.entries(facts)
          .map(([name, value]) => `${name}=${value}`)
          .join(' ')}`
  printLines(stdout, [line])
}
