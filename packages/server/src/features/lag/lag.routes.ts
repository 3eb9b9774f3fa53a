import type { AuditAction, lagApi } from '@guildhall/contract'
import { type AuditRecorder, actorOf } from '../../kernel/audit/recorder.ts'
import type { OperatorPrincipal } from '../../kernel/auth/principal.ts'
import { Failure } from '../../kernel/failure.ts'
import type { MountedRoute, ServerHandlers } from '../../kernel/http/exchange.ts'
import type { CaptureRow } from './captures/captures.store.ts'
import type { LagConsole } from './reports/lag.console.ts'

type Attempted = Extract<AuditAction, `lag.raw.${string}` | 'lag.regenerate'>

/** The word for a capture that is not known to exist. */
const someCapture = 'capture'

export function lagHandlers(
  lag: LagConsole,
  recorder: Pick<AuditRecorder, 'record'>,
): ServerHandlers<typeof lagApi> {
  /** Does something about a capture, and records what came of it. */
  async function attempt<T>(
    principal: OperatorPrincipal,
    action: Attempted,
    captureId: string,
    act: (capture: CaptureRow) => Promise<T>,
  ): Promise<T> {
    let target = someCapture
    try {
      const capture = await lag.expectCapture(captureId)
      target = capture.capture_id
      const answer = await act(capture)
      recorder.record(entryOf(principal, action, { target, outcome: outcomeOf(answer) }))
      return answer
    } catch (error) {
      recorder.record(entryOf(principal, action, { target, outcome: refusalOf(error) }))
      throw error
    }
  }

  return {
    reports: ({ principal, query }) => lag.reports(principal, query),
    report: ({ principal, params }) => lag.report(principal, params.report_id),
    windows: ({ params }) => lag.windows(params.report_id),
    captures: ({ principal, query }) => lag.captures(principal, query),
    raw: ({ principal, params, query }) =>
      attempt(principal, 'lag.raw.list', params.capture_id, (capture) => lag.raw(capture, query)),
    download: ({ principal, params }) =>
      attempt(principal, 'lag.raw.download', params.capture_id, (capture) =>
        lag.download(capture, params.handle),
      ),
    deleteRaw: ({ principal, params }) =>
      attempt(principal, 'lag.raw.delete', params.capture_id, async (capture) => {
        await lag.deleteRaw(capture, params.handle)
        return undefined
      }),
    regenerate: ({ principal, params, body }) =>
      attempt(principal, 'lag.regenerate', params.capture_id, (capture) =>
        lag.regenerate(capture, body),
      ),
  }
}

/** Records the attempts that end before a handler, of the routes that audit every one. */
export function auditRefusals(
  routes: readonly MountedRoute[],
  recorder: Pick<AuditRecorder, 'record'>,
): MountedRoute[] {
  return routes.map((mounted) => {
    const { audit, auditsAttempts } = mounted.route
    if (auditsAttempts !== true || audit === undefined) return mounted
    const refused = (principal: OperatorPrincipal, error: unknown) => {
      const attempted = { target: someCapture, outcome: refusalOf(error) }
      recorder.record(entryOf(principal, audit, attempted))
    }
    return { ...mounted, refused }
  })
}

function entryOf(
  principal: OperatorPrincipal,
  action: AuditAction,
  { target, outcome }: { target: string; outcome: string },
) {
  return { ...actorOf(principal), action, target, details: `outcome=${outcome}` }
}

/** That of a report which was made again, else ok. */
function outcomeOf(answer: unknown): string {
  const isRegenerated = typeof answer === 'object' && answer !== null && 'outcome' in answer
  return isRegenerated && typeof answer.outcome === 'string' ? answer.outcome : 'ok'
}

function refusalOf(error: unknown): string {
  if (!(error instanceof Failure)) return 'failed'
  switch (error.code) {
    case 'forbidden':
      return 'forbidden'
    case 'invalid_request':
      return 'invalid'
    case 'not_found':
      return 'not_found'
    case 'conflict':
      return 'conflict'
    default:
      return 'failed'
  }
}
