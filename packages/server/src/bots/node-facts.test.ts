import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import type { Config } from '../config/schema.ts'
import { readCpuSeconds } from './node-facts.ts'

it('sums the CPU of the node and of the whole of its script, handlers only once', async () => {
  const page = [
    '# TYPE guildhall_process_cpu_seconds_total counter',
    'guildhall_process_cpu_seconds_total 1.5',
    'guildhall_script_cpu_seconds_total{hook="on_rpc",name="a} b"} 0.25',
    'guildhall_script_cpu_seconds_total{hook="on_rpc",name="{\\"} 9"} 2',
    'guildhall_script_process_cpu_seconds_total 2.25',
    'guildhall_script_calls_total 7',
  ]
  const server = createServer((_, response) => response.end(`${page.join('\n')}\n`))
  await new Promise<void>((listens) => server.listen(0, '127.0.0.1', listens))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const metrics = { enabled: true, bind: `127.0.0.1:${port}`, path: '/metrics' }
  expect(await readCpuSeconds({ metrics } as Config)).toBe(3.75)
})
