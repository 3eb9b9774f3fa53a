import { timingSafeEqual } from 'node:crypto'
import type { Role } from '@guildhall/contract'
import type { HumanPrincipal } from '../../kernel/auth/principal.ts'
import { sha256 } from '../../kernel/auth/sha256.ts'
import { refuse } from '../../kernel/failure.ts'
import type { Tokens } from './console.tokens.ts'

export type ConsoleDeps = {
  tokens: Tokens
  config: {
    username: string
    password: string
    viewer_username?: string | undefined
    viewer_password?: string | undefined
    /** Persons with names of their own, unlike each other and the two above. */
    operators: readonly Credential[]
    token_expiry_sec: number
  }
  verifyPassword(verifier: string, password: string): Promise<boolean>
  /** Counts an attempt; refuses with 429. What was taken is given back when the login succeeds. */
  admit(plan: readonly LoginRule[]): Promise<{ giveBack(): Promise<void> }>
  recordLogin(operator: HumanPrincipal): void
  recordFailedLogin(presentedUsername: string): void
  recordLogout(operator: HumanPrincipal): void
}

type LoginRule = { rule: 'console_login' | 'console_login_source'; values: readonly string[] }
type Credentials = { username: string; password: string }
type Credential = Credentials & { role: Role }
export type Console = ReturnType<typeof createConsole>

/** The operators' sign-in: static credentials for a token. */
export function createConsole(deps: ConsoleDeps) {
  const { tokens, config, admit } = deps
  const credentials = credentialsOf(config)
  const inTurn = createTurns()

  /** Every one of these two is checked in full, whichever part is wrong. */
  async function matchingRole(username: string, password: string): Promise<Role | undefined> {
    const matches = await Promise.all(
      credentials.map(async (credential) => {
        const sameName = equalText(credential.username, username)
        const samePassword = isVerifier(credential.password)
          ? await deps.verifyPassword(credential.password, password)
          : equalText(credential.password, password)
        return sameName && samePassword
      }),
    )
    return credentials[matches.indexOf(true)]?.role
  }

  /**
   * Of many operators the named one is checked. One verifier is tried in any case, so that known
   * and unknown names cost the same work.
   */
  async function roleOfOperator(username: string, password: string): Promise<Role | undefined> {
    const [operator] = config.operators.filter((each) => equalText(each.username, username))
    const verifier = verifierOf(operator) ?? verifierOf(config.operators.find(verifierOf))
    const isVerified = verifier !== undefined && (await deps.verifyPassword(verifier, password))
    if (operator === undefined) return undefined
    const isSame = isVerifier(operator.password)
      ? isVerified
      : equalText(operator.password, password)
    return isSame ? operator.role : undefined
  }

  async function login({ username, password }: Credentials, source: string) {
    const admitted = await admit([
      { rule: 'console_login', values: [source, username] },
      { rule: 'console_login_source', values: [source] },
    ])
    const roles = await Promise.all([
      matchingRole(username, password),
      roleOfOperator(username, password),
    ]).catch(async (error: unknown) => {
      // Nobody was found wrong, e.g. because the queue of password hashing is full.
      await admitted.giveBack()
      throw error
    })
    const role = roles.find((found) => found !== undefined)
    if (role === undefined) {
      deps.recordFailedLogin(username)
      throw refuse.unauthenticated('wrong operator credentials')
    }
    await admitted.giveBack()
    const operator: HumanPrincipal = { kind: 'human', username, role }
    const token = await tokens.issue(operator)
    deps.recordLogin(operator)
    return { token, role, expires_in_sec: config.token_expiry_sec }
  }

  return {
    /**
     * Exchanges credentials for a token. Attempts of one source are judged one after another: until
     * it is judged each counts as a failure, so that no burst of guesses passes the limit, and many
     * at once would otherwise refuse each other although all are right.
     */
    login: (body: Credentials, source: string) => inTurn(source, () => login(body, source)),

    verify: tokens.verify,

    /** Ends a token at once. Of several requests that end the same one, the first is recorded. */
    async logout(token: string, operator: HumanPrincipal): Promise<void> {
      if (await tokens.end(token)) deps.recordLogout(operator)
    },
  }
}

/** Whether an operator of this name and role can sign in. */
export function knowsOperator(config: ConsoleDeps['config'], username: string, role: Role) {
  return [...credentialsOf(config), ...config.operators].some(
    (known) => known.username === username && known.role === role,
  )
}

function credentialsOf(config: ConsoleDeps['config']) {
  const { username, password, viewer_username, viewer_password } = config
  const admin = { role: 'admin' as Role, username, password }
  if (viewer_password === undefined) return [admin]
  const viewer = { username: viewer_username ?? username, password: viewer_password }
  return [admin, { role: 'viewer' as Role, ...viewer }]
}

function verifierOf(credential: Credential | undefined): string | undefined {
  return credential && isVerifier(credential.password) ? credential.password : undefined
}

function isVerifier(password: string): boolean {
  return password.startsWith('$argon2')
}

/** Runs work of one key in the order in which it came, each when the one before has ended. */
function createTurns() {
  const newest = new Map<string, Promise<unknown>>()
  return async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const before = newest.get(key) ?? Promise.resolve()
    const mine = before.then(work, work)
    newest.set(key, mine)
    try {
      return await mine
    } finally {
      if (newest.get(key) === mine) newest.delete(key)
    }
  }
}

/** Constant-time: digests are of one length, whatever the texts are. */
function equalText(one: string, other: string): boolean {
  return timingSafeEqual(sha256(one), sha256(other))
}
