import { createConsoleClient } from '@guildhall/client/console'
import { type FormEvent, useId, useState } from 'react'
import { queries } from '../data/console-client.ts'
import { useModal } from '../kit/dialog/dialog.tsx'
import { ErrorNote } from '../kit/error-state.tsx'
import { session, useSession } from './session.ts'

const { console: operators } = createConsoleClient('')

async function signIn(username: string, password: string): Promise<void> {
  const { token, role, expires_in_sec } = await operators.login({ body: { username, password } })
  const endsAtUnixMs = Date.now() + expires_in_sec * 1_000
  // What somebody else has read must not be shown to this one.
  if (session.current()?.username !== username) queries.clear()
  session.signedIn({ token, role, username, endsAtUnixMs })
  await queries.invalidateQueries()
}

function SignInForm() {
  const known = useSession()?.username ?? ''
  const [username, setUsername] = useState(known)
  const [password, setPassword] = useState('')
  const [error, setError] = useState<Error | null>(null)
  const [isBusy, setBusy] = useState(false)
  const id = useId()
  /** A refusal is of what stood there before. */
  const typed = (set: () => void) => {
    set()
    setError(null)
  }
  const send = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setError(null)
    try {
      await signIn(username, password)
    } catch (refusal) {
      setError(refusal instanceof Error ? refusal : new Error(String(refusal)))
      setPassword('')
    } finally {
      setBusy(false)
    }
  }
  return (
    <form className="form" onSubmit={(event) => void send(event)}>
      <div className="field">
        <label htmlFor={`${id}-name`}>Operator</label>
        <input
          id={`${id}-name`}
          autoComplete="username"
          // biome-ignore lint/a11y/noAutofocus: nothing else can be done on this page.
          autoFocus={known === ''}
          required
          value={username}
          onChange={({ target }) => typed(() => setUsername(target.value))}
        />
      </div>
      <div className="field">
        <label htmlFor={`${id}-password`}>Password</label>
        <input
          id={`${id}-password`}
          type="password"
          autoComplete="current-password"
          required
          value={password}
          onChange={({ target }) => typed(() => setPassword(target.value))}
        />
      </div>
      <SignInError error={error} />
      <button type="submit" className="primary" disabled={isBusy}>
        Sign in
      </button>
    </form>
  )
}

function SignInError({ error }: { error: Error | null }) {
  if (error !== null && 'status' in error && error.status === 401) {
    return (
      <div className="problem-box" role="alert">
        Operator and password do not belong together.
      </div>
    )
  }
  return <ErrorNote error={error} />
}

export function SignInPage() {
  return (
    <main className="sign-in">
      <section className="card" aria-label="Sign in">
        <div className="card-head">
          <h1>Guildhall</h1>
        </div>
        <SignInForm />
      </section>
    </main>
  )
}

/** Over the page, which keeps all that was typed. */
export function SignInAgain() {
  // The operator stands there already.
  const dialog = useModal('input[type=password]')
  return (
    <dialog aria-label="Sign in again" ref={dialog} onCancel={(event) => event.preventDefault()}>
      <div className="dialog-head">
        <h2>Your session has ended</h2>
      </div>
      <div className="dialog-body">
        <p>Sign in again to go on. What you have typed is still there.</p>
        <SignInForm />
        <button type="button" className="link" onClick={session.end}>
          Leave instead
        </button>
      </div>
    </dialog>
  )
}
