import assert from 'node:assert/strict'
import { type ConsoleClient, GuildhallError } from '@guildhall/client/console'

/** One entry of the audit trail, as the day expects it. */
export type Expected = { actor: string; action: string; target: string; details: string }

/** What every part of the day works with. */
export type Day = {
  readonly baseUrl: string
  readonly client: ConsoleClient
  /** A name that no other run of this day has. */
  own(name: string): string
  /** Says what happens. */
  say(line: string): void
  /** Notes what the trail must report in the end; `actor` is the operator by default. */
  expect(seen: Omit<Expected, 'actor'> & { actor?: string }): void
}

/** The request must be refused with this code. */
export async function refused(
  request: Promise<unknown>,
  code: GuildhallError['code'],
): Promise<void> {
  await assert.rejects(request, (error) => error instanceof GuildhallError && error.code === code)
}
