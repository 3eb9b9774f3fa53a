import { setTimeout as sleep } from 'node:timers/promises'
import type { Child } from './child.ts'

const collector = new URL('./collect-garbage.ts', import.meta.url).href

/** Arguments of a node whose garbage is collected when it is asked to. */
export const collectsGarbage: readonly string[] = ['--expose-gc', '--import', collector]

/** Resident bytes after garbage was collected, once they no longer change. */
export async function settledBytes(server: Child): Promise<number> {
  for (let time = 0; time < 3; time += 1) {
    process.kill(server.pid, 'SIGUSR2')
    await sleep(300)
  }
  return server.residentBytes()
}
