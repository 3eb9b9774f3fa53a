import type { CredentialSignIn, EmailSignIn, JsonObject, SessionTokens } from '@guildhall/contract'
import type { Database, Transaction } from '../../database/database.ts'
import { refuse } from '../../kernel/failure.ts'

export type SignInDeps = {
  db: Database
  /** Counts an attempt; refuses with 429 when a limit is reached. */
  admit(plan: readonly AdmissionRule[]): Promise<void>
  hashing: {
    hash(password: string): Promise<string>
    verify(verifier: string, password: string): Promise<boolean>
    verifyDummy(password: string): Promise<false>
    needsRehash(verifier: string): boolean
  }
  accounts: {
    findIdentity(credential: Credential): Promise<Identity | undefined>
    register(tx: Transaction, account: NewAccount): Promise<Registration>
    strengthenVerifier(email: string, change: { weaker: string; stronger: string }): Promise<void>
  }
  sessions: {
    open(owner: Owner): Promise<SessionTokens>
    openFirst(tx: Transaction, owner: Owner): Promise<SessionTokens>
  }
  /** Counts outcomes for the metrics. */
  count(outcome: 'success' | 'failure'): void
}

type AdmissionRule = { rule: 'source' | 'email' | 'registration_source'; values: readonly string[] }
type Credential = { provider: 'device' | 'custom' | 'email'; external_id: string }
type Owner = { account_id: string; username: string }
type Identity = Owner & { state: string; password_verifier: string | null }
type NewAccount = Credential & {
  username: string
  display_name: string | undefined
  metadata: JsonObject | undefined
  password_verifier: string | null
}
type Registration =
  | { outcome: 'registered'; account_id: string }
  | { outcome: 'username taken' | 'credential taken' }

/** The part of a request that only a registration uses. */
type Wish = Pick<CredentialSignIn, 'create' | 'username' | 'display_name' | 'metadata'>

export type SignIn = ReturnType<typeof createSignIn>

/** Signing in and registering: the three doors through which a player gets a session. */
export function createSignIn({ db, admit, hashing, accounts, sessions, count }: SignInDeps) {
  /**
   * Adds the account, its credential and its first session in one transaction. Undefined when
   * somebody registered the same credential in the meantime: then it is a returning login.
   */
  async function register(credential: Credential, wish: Wish, password_verifier: string | null) {
    const { username, display_name, metadata } = wish
    if (username === undefined) throw refuse.invalid('username is required when create is true')
    const account = { ...credential, username, display_name, metadata, password_verifier }
    const result = await db
      .transaction(async (tx) => {
        const registration = await accounts.register(tx, account)
        if (registration.outcome !== 'registered')
          throw new RegistrationRefused(registration.outcome)
        const { account_id } = registration
        return sessions.openFirst(tx, { account_id, username })
      })
      .catch((error: unknown) => {
        if (error instanceof RegistrationRefused) return error
        throw error
      })
    if (!(result instanceof RegistrationRefused)) return result
    if (result.outcome === 'credential taken') return undefined
    if ((await accounts.findIdentity(credential)) !== undefined) return undefined
    throw refuse.conflict('username is taken')
  }

  /** A registration that lost the race for its credential signs in as whoever won it. */
  async function openKnown(identity: Identity | undefined): Promise<SessionTokens> {
    if (identity === undefined) throw refuse.unauthenticated('unknown credential')
    if (identity.state !== 'active') throw refuse.unauthenticated('the account is not active')
    return sessions.open(identity)
  }

  async function byCredential(credential: Credential, wish: Wish): Promise<SessionTokens> {
    const known = await accounts.findIdentity(credential)
    if (known !== undefined || wish.create !== true) return openKnown(known)
    const registered = await register(credential, wish, null)
    return registered ?? openKnown(await accounts.findIdentity(credential))
  }

  /** Known or not, one attempt costs one hash, so that its time tells nothing. */
  async function byEmail({ email, password, ...wish }: EmailSignIn): Promise<SessionTokens> {
    const credential = { provider: 'email', external_id: email } as const
    const known = await accounts.findIdentity(credential)
    if (known === undefined && wish.create === true) {
      const registered = await register(credential, wish, await hashing.hash(password))
      if (registered !== undefined) return registered
    }
    const identity = known ?? (await accounts.findIdentity(credential))
    const verifier = identity?.password_verifier ?? undefined
    const right =
      verifier === undefined
        ? await hashing.verifyDummy(password)
        : await hashing.verify(verifier, password)
    if (!right || verifier === undefined) throw refuse.unauthenticated('wrong email or password')
    const tokens = await openKnown(identity)
    if (hashing.needsRehash(verifier)) {
      const stronger = await hashing.hash(password)
      await accounts.strengthenVerifier(email, { weaker: verifier, stronger })
    }
    return tokens
  }

  async function counted(attempt: Promise<SessionTokens>): Promise<SessionTokens> {
    return attempt.then(
      (tokens) => {
        count('success')
        return tokens
      },
      (error: unknown) => {
        count('failure')
        throw error
      },
    )
  }

  return {
    async withId(provider: 'device' | 'custom', body: CredentialSignIn, source: string) {
      await admit(planOf(source, body))
      return counted(byCredential({ provider, external_id: body.id }, body))
    },
    async withEmail(body: EmailSignIn, source: string) {
      await admit([...planOf(source, body), { rule: 'email', values: [body.email] }])
      return counted(byEmail(body))
    },
  }
}

/** Gives the registration's transaction up. */
class RegistrationRefused extends Error {
  readonly outcome: 'username taken' | 'credential taken'
  constructor(outcome: 'username taken' | 'credential taken') {
    super(outcome)
    this.outcome = outcome
  }
}

/** A wish to register counts as one, whether or not the credential turns out to exist. */
function planOf(source: string, { create }: Wish): AdmissionRule[] {
  const plan: AdmissionRule[] = [{ rule: 'source', values: [source] }]
  if (create === true) plan.push({ rule: 'registration_source', values: [source] })
  return plan
}
