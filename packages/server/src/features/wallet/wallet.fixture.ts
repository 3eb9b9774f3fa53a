import { auditApi, consoleApi, walletApi } from '@guildhall/contract'
import { statement } from '../../database/statement.ts'
import { readJson } from '../../kernel/json/json-reader.ts'
import type { ApiAnswer, TestApi } from '../../testing/api.ts'
import type { Scenario } from '../../testing/scenario.ts'

export type WalletOperator = Awaited<ReturnType<typeof openWalletOperator>>

/** The admin's requests about wallets on one node. */
export async function openWalletOperator(api: TestApi) {
  const credentials = { username: 'admin', password: 'password' }
  const login = await api.call('POST', '/console/v1/login', { body: credentials })
  const { token } = consoleApi.login.ok.parse(login.body)
  const pathOf = (id: string) => `/console/v1/accounts/${encodeURIComponent(id)}/wallet`
  const read = (id: string) => api.call('GET', pathOf(id), { token })
  /** A string is sent as it is. */
  const post = (id: string, body: unknown, headers: Record<string, string> = {}) =>
    api.call('POST', pathOf(id), { token, body, headers })
  return {
    read,
    post,
    adjust: (id: string, currency: string, delta: bigint | number) =>
      post(id, `{"currency":${JSON.stringify(currency)},"delta":${delta}}`),
    async wallet(id: string) {
      return walletOf(await read(id))
    },
    async trail() {
      const path = '/console/v1/audit?limit=500&action=accounts.wallet'
      return auditApi.list.ok.parse((await api.call('GET', path, { token })).body).entries
    },
  }
}

/** The wallet of an answer that must be a success, with all its digits. */
export function walletOf(answer: ApiAnswer) {
  if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`)
  return walletApi.get.ok.parse(readJson(answer.text).value)
}

const entries = statement({
  name: 'tests.ledger',
  text: 'SELECT user_id, currency, delta, balance_after, seq FROM wallet_ledger ORDER BY seq',
  row: {
    user_id: 'text',
    currency: 'text',
    delta: 'bigint',
    balance_after: 'bigint',
    seq: 'bigint',
  },
})

const balances = statement({
  name: 'tests.balances',
  text: `SELECT b.user_id, b.currency, b.balance, COALESCE(c.carried, 0) AS carried
    FROM wallet_balances b
    LEFT JOIN wallet_carried c ON c.user_id = b.user_id AND c.currency = b.currency`,
  row: { user_id: 'text', currency: 'text', balance: 'bigint', carried: 'bigint' },
})

/**
 * What must hold for every balance of a deployment: it is not negative, it is the sum of what is
 * carried over and of the kept deltas, and each entry continues the one before it.
 */
export async function brokenBalances({ db }: Scenario): Promise<string[]> {
  const broken: string[] = []
  const ledger = await db.all(entries, {})
  for (const { user_id, currency, balance, carried } of await db.all(balances, {})) {
    let sum = carried
    for (const entry of ledger) {
      if (entry.user_id !== user_id || entry.currency !== currency) continue
      sum += entry.delta
      if (sum !== entry.balance_after) broken.push(`${user_id} ${currency} at ${entry.seq}`)
    }
    if (sum !== balance || sum < 0n) broken.push(`${user_id} ${currency}`)
  }
  return broken
}
