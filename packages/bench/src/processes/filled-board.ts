import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Bench } from '../benchmark.ts'
import { startChild } from './child.ts'
import { ownCheckout } from './guildhall.ts'

type FilledBoard = { url: string; records: number; checkout?: string | undefined }

/** The board that is filled, which the script of `game-calls` knows as well. */
export const boardId = 'large'

/** A user of the board, as the product's own tests make them. */
export function ownerOf(number: number): string {
  return `user-${((number * 7919) % 4_294_967_291).toString(16).padStart(32, '0')}`
}

const fillingMs = 600_000

/** Makes a board with so many records in a database that a checkout migrates. */
export async function fillBoard(
  bench: Bench,
  { url, records, checkout = ownCheckout }: FilledBoard,
): Promise<void> {
  const measured = pathToFileURL(join(checkout, 'packages/server/src/testing/measured/')).href
  const filler = await startChild({
    args: ['--input-type=module', '--eval', program(measured, JSON.stringify({ url })), '{}'],
    cwd: bench.folder,
    cores: bench.cores,
    on: 'both',
    readyWithinMs: fillingMs,
  })
  await filler.stop()

  function program(folder: string, options: string): string {
    return `
      import { openDeployment } from ${JSON.stringify(`${folder}deployment.ts`)}
      import { seedBoard } from ${JSON.stringify(`${folder}seeded-board.ts`)}
      const { shared } = await openDeployment(${options})
      await seedBoard(shared.db, ${JSON.stringify(boardId)}, ${records})
      await shared.db.close()
      process.stdout.write('ready url=filled\\n')
    `
  }
}
