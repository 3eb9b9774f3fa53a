import { stringifyExact } from '@guildhall/contract'
import type { Log } from '../../kernel/log/log.ts'
import { nobody } from '../../kernel/play/calls.ts'
import type { FilterCandidate, IndexFilterPort } from '../../kernel/play/script.ts'
import type { Outcome } from '../calls.ts'
import type { Router } from '../serving/router.ts'
import { hookCode } from '../wire/hooks.ts'

type Deps = { router: Router; filters: IndexFilterPort; log: Log }

/** The filters of storage indexes that the serving script registered. */
export function createIndexFilters({ router, filters, log }: Deps) {
  let serving: readonly string[] = []

  /** Rejects when the filter fails or its worker is lost. */
  async function judge(index: string, candidate: FilterCandidate): Promise<boolean> {
    const text = `{"index":${JSON.stringify(index)},"candidate":${stringifyExact(candidate)}}`
    const outcome = await new Promise<Outcome>((settle) => {
      const about = { context: nobody, origin: 'server', text } as const
      router.call({ hook: hookCode.register_storage_index_filter, ...about, settle })
    })
    if (outcome.status !== 'ok') throw new Error(`the filter ended as ${outcome.status}`)
    const verdict: unknown = JSON.parse(new TextDecoder().decode(outcome.reply))
    if (typeof verdict !== 'boolean') throw new Error('a filter returns true or false')
    return verdict
  }

  function set(index: string, isServed: boolean): void {
    const filter = (candidate: FilterCandidate) => judge(index, candidate)
    filters(index, isServed ? filter : undefined).then(
      (isDeclared) => {
        if (isServed && !isDeclared)
          log.warn('a filter is for an index that is not declared', { index })
      },
      (error: unknown) => log.error('a filter could not be set', { index, error }),
    )
  }

  return {
    /** A worker serves with these filters, and with no others. */
    serve(names: readonly string[]): void {
      for (const name of serving) if (!names.includes(name)) set(name, false)
      serving = names
      for (const name of names) set(name, true)
    },
    /** The worker is gone. */
    end(): void {
      for (const name of serving) set(name, false)
      serving = []
    },
  }
}
