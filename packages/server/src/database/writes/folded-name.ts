import { foldCase } from '../../kernel/fold-case.ts'

/** With the display name as accounts are found by it, whatever the case of its letters. */
export function foldedName<A extends { display_name: string | null }>(account: A) {
  const { display_name } = account
  return { ...account, display_folded: display_name === null ? null : foldCase(display_name) }
}
