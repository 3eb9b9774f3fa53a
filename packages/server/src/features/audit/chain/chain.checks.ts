import type { Queries } from '../../../database/database.ts'
import { verifyChain } from './verify.ts'

/** The check of the chain for the doctor: whole from its anchor to its head. */
export function createAuditCheck(key: string | undefined) {
  return {
    name: 'audit',
    async examine(state: Queries, examplesMax: number) {
      const { rows, broken } = await verifyChain(state, { key })
      if (broken === undefined) return { rows, violations: 0, examples: [] }
      const example = { rule: 'the chain holds', id: `seq ${broken.seq} ${broken.problem}` }
      return { rows, violations: 1, examples: [example].slice(0, examplesMax) }
    },
  }
}
