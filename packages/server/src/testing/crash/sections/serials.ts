import { expectThat } from '../operation.ts'

/**
 * Numbers that a sequence has issued: each belongs to one thing for good, and after a restart only
 * larger ones may come.
 */
export function createSerials(name: string) {
  const owners = new Map<number, string>()
  let largest = 0
  let floor = 0
  return {
    note(id: number, owner: string): void {
      const known = owners.get(id)
      expectThat(known === undefined || known === owner, `${name} ${id} was issued twice`)
      if (known !== undefined) return
      expectThat(id > floor, `${name} ${id} comes after ${floor} was issued before the restart`)
      owners.set(id, owner)
      largest = Math.max(largest, id)
    },
    ownerOf: (id: number) => owners.get(id),
    /** To be called once everything that was issued before the restart is known. */
    restarted(): void {
      floor = largest
    },
  }
}
