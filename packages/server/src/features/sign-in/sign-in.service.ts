import type { CredentialSignIn, EmailSignIn, JsonObject, SessionTokens } from '@guildhall/contract'
import type { Database, Transaction } from '../../database/database.ts'
import { mergedWrites } from '../../database/writes/merged-writes.ts'
import type { CombinedResult } from '../../kernel/batching/combiner.ts'
import { afterOthers } from '../../kernel/clock.ts'
import { refuse } from '../../kernel/failure.ts'

export type SignInDeps = {
  db: Database
  /** Counts an attempt; refuses with 429 when a limit is reached. */
  admit(plan: readonly AdmissionRule[]): Promise<unknown>
  hashing: {
    hash(password: string): Promise<string>
    verify(verifier: string, password: string): Promise<boolean>
    verifyDummy(password: string): Promise<false>
    needsRehash(verifier: string): boolean
  }
  accounts: {
    findIdentity(credential: Credential): Promise<Identity | undefined>
    register(tx: Transaction, accounts: readonly NewAccount[]): Promise<Registration[]>
    strengthenVerifier(email: string, change: { weaker: string; stronger: string }): Promise<void>
  }
  sessions: {
    /** The life of an access token. */
    accessTtlSec: number
    open(owner: Owner): Promise<SessionTokens>
    /** Undefined when no active account has the credential. */
    openKnown(credential: Credential): Promise<SessionTokens | undefined>
    openFirst(tx: Transaction, owners: readonly Owner[]): SessionTokens[]
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
  | { outcome: 'known'; identity: Identity }
  | { outcome: 'username taken' }
  | { outcome: 'credential taken' }
/** A new account's first session, or the account that has the credential already. */
type Registered = { tokens: SessionTokens } | { known: Identity | undefined } | 'username taken'

/** The part of a request that only a registration uses. */
type NewPlayer = Pick<CredentialSignIn, 'create' | 'username' | 'display_name' | 'metadata'>

export type SignIn = ReturnType<typeof createSignIn>

/** Signing in and registering: the three ways in which a player gets a session. */
export function createSignIn({ db, admit, hashing, accounts, sessions, count }: SignInDeps) {
  /**
   * Adds accounts, their credentials and their first sessions in one transaction. Unique keys
   * decide every race, so nothing has to be serializable.
   */
  async function registerAll(newcomers: readonly NewAccount[]): Promise<Registered[]> {
    return db.transaction(
      async (tx) => {
        const registrations = await accounts.register(tx, newcomers)
        const owners = registrations.flatMap((registration, at) => {
          const { username = '' } = newcomers[at] ?? {}
          if (registration.outcome === 'credential taken') throw new CredentialTaken()
          return registration.outcome === 'registered' ? [{ ...registration, username }] : []
        })
        const opened = sessions.openFirst(tx, owners)
        return registrations.map((registration): Registered => {
          if (registration.outcome === 'known') return { known: registration.identity }
          if (registration.outcome !== 'registered') return 'username taken'
          const tokens = opened.shift()
          if (tokens === undefined) throw new Error('a registered account has no session')
          return { tokens }
        })
      },
      { isolation: 'read committed' },
    )
  }

  /** When somebody registers the same credential meanwhile it is a returning login instead. */
  async function registerOne(account: NewAccount): Promise<Registered> {
    try {
      const [registered] = await registerAll([account])
      return registered ?? 'username taken'
    } catch (error) {
      if (!(error instanceof CredentialTaken)) throw error
      return { known: await accounts.findIdentity(account) }
    }
  }

  const registerMerged = mergedWrites<NewAccount, Registered>(db, {
    itemsMax: 128,
    async run(newcomers) {
      try {
        if (newcomers.length > 1) return (await registerAll(newcomers)).map(succeeded)
      } catch (error) {
        // Two of them, or another node, have the same credential: each is tried by itself.
        if (!(error instanceof CredentialTaken)) throw error
      }
      return Promise.all(newcomers.map((account) => registerOne(account).then(succeeded, failed)))
    },
  })

  async function register(
    credential: Credential,
    request: NewPlayer,
    password_verifier: string | null,
  ): Promise<{ tokens: SessionTokens } | { known: Identity | undefined }> {
    const { username, display_name, metadata } = request
    if (username === undefined) throw refuse.invalid('username is required when create is true')
    const account = { ...credential, username, display_name, metadata, password_verifier }
    const registered = await registerMerged(account)
    if (registered === 'username taken') throw refuse.conflict('username is taken')
    return registered
  }

  async function openKnown(identity: Identity | undefined): Promise<SessionTokens> {
    if (identity === undefined) throw refuse.unauthenticated('unknown credential')
    if (identity.state !== 'active') throw refuse.unauthenticated('the account is not active')
    return sessions.open(identity)
  }

  async function byCredential(credential: Credential, request: NewPlayer): Promise<SessionTokens> {
    // Nearly everybody comes back, so that is tried before anything is looked up.
    const returning = await sessions.openKnown(credential)
    if (returning !== undefined) return returning
    if (request.create !== true) return openKnown(await accounts.findIdentity(credential))
    const registered = await register(credential, request, null)
    return 'tokens' in registered ? registered.tokens : openKnown(registered.known)
  }

  /** Known or not, one attempt costs one hash, so that its time reveals nothing. */
  async function byEmail({ email, password, ...request }: EmailSignIn): Promise<SessionTokens> {
    const credential = { provider: 'email', external_id: email } as const
    let known = await accounts.findIdentity(credential)
    if (known === undefined && request.create === true) {
      const registered = await register(credential, request, await hashing.hash(password))
      if ('tokens' in registered) return registered.tokens
      known = registered.known
    }
    const verifier = known?.password_verifier ?? undefined
    const right =
      verifier === undefined
        ? await hashing.verifyDummy(password)
        : await hashing.verify(verifier, password)
    if (!right || verifier === undefined) throw refuse.unauthenticated('wrong email or password')
    const tokens = await openKnown(known)
    if (hashing.needsRehash(verifier)) await strengthen(email, password, verifier).catch(() => {})
    return tokens
  }

  /** The login has succeeded whatever becomes of this; the next one tries again. */
  async function strengthen(email: string, password: string, weaker: string): Promise<void> {
    const stronger = await hashing.hash(password)
    await accounts.strengthenVerifier(email, { weaker, stronger })
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
      // A request that waits for a hash anyway lets those go first that wait for nothing.
      await afterOthers()
      await admit([...planOf(source, body), { rule: 'email', values: [body.email] }])
      await afterOthers()
      const tokens = await counted(byEmail(body))
      await afterOthers()
      return tokens
    },
  }
}

function succeeded<T>(value: T): CombinedResult<T> {
  return { ok: true, value }
}

function failed(error: unknown): CombinedResult<never> {
  return { ok: false, error }
}

/** Gives the registration's transaction up, which has added the account already. */
class CredentialTaken extends Error {
  override readonly name = 'CredentialTaken'
}

/** A request to register counts as one, whether or not the credential turns out to exist. */
function planOf(source: string, { create }: NewPlayer): AdmissionRule[] {
  const plan: AdmissionRule[] = [{ rule: 'source', values: [source] }]
  if (create === true) plan.push({ rule: 'registration_source', values: [source] })
  return plan
}
