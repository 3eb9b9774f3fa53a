import type { ErrorJournal } from '../../kernel/errors/error-journal.ts'
import { defineFeature, mount } from '../feature.ts'

/** What operators read of the errors of this node. */
export function errorJournalFeature({ page }: Pick<ErrorJournal, 'page'>) {
  return defineFeature({
    routes: mount({ errorJournal: { list: async ({ query }) => page(query) } }),
  })
}
