import { scopes } from '@guildhall/contract'
import { type Check, defineCheck, rule } from '../../database/checks/check.ts'
import { statement } from '../../database/statement.ts'

const stored = defineCheck('api_keys', {
  tables: ['api_keys'],
  rules: [
    rule('api-keys.generation', {
      rule: 'a generation is at least 1',
      text: 'SELECT id FROM api_keys WHERE generation < 1',
    }),
    rule('api-keys.verifier', {
      rule: 'a verifier has 32 bytes',
      text: 'SELECT id FROM api_keys WHERE length(secret_digest) <> 32',
    }),
  ],
})

const scopesOfKeys = statement({
  name: 'doctor.api-keys.scopes',
  text: 'SELECT id, scopes FROM api_keys ORDER BY id',
  row: { id: 'text', scopes: 'text' },
})

/** Keys are few, and their scopes are a list in one column, so this rule is no query. */
export const apiKeysCheck: Check = {
  name: stored.name,
  async examine(state, examplesMax) {
    const finding = await stored.examine(state, examplesMax)
    const known = new Set<string>(scopes)
    const keys = await state.all(scopesOfKeys, {})
    const broken = keys.filter((key) => key.scopes.split(',').some((scope) => !known.has(scope)))
    const examples = broken.map(({ id }) => ({ rule: 'all scopes are known', id }))
    return {
      rows: finding.rows,
      violations: finding.violations + broken.length,
      examples: [...finding.examples, ...examples].slice(0, examplesMax),
    }
  },
}
