import type { ConsoleClient } from '@guildhall/client/console'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { jsonText } from '../../model/json.ts'
import { toast } from '../kit/dialog/toasts.tsx'
import { call } from './console-client.ts'

export type ChangeOptions<Input, Output> = {
  /** Sends the change; `idempotencyKey` makes a second sending of the same one harmless. */
  send(client: ConsoleClient, input: Input, idempotencyKey: string): Promise<Output>
  /** The features whose reads are out of date then. */
  touches: readonly string[]
  /** Said when it is done; undefined where the answer is shown anyway. */
  done: string | ((output: Output, input: Input) => string | undefined)
}

/**
 * A change of the console. Nothing is shown as changed before the server has answered. What is sent
 * again after a failure with the same input has the same Idempotency-Key.
 */
export function useChange<Input, Output>({ send, touches, done }: ChangeOptions<Input, Output>) {
  const queries = useQueryClient()
  const attempt = useRef<{ input: string; key: string }>(undefined)
  return useMutation({
    mutationFn: (input: Input) => {
      const text = jsonText(input)
      if (attempt.current?.input !== text) attempt.current = { input: text, key: newKey() }
      const { key } = attempt.current
      return call((client) => send(client, input, key))
    },
    onSuccess: (output, input) => {
      attempt.current = undefined
      const words = typeof done === 'string' ? done : done(output, input)
      if (words !== undefined) toast(words)
      for (const feature of [...touches, 'audit']) {
        void queries.invalidateQueries({ queryKey: [feature] })
      }
    },
  })
}

export function newKey(): string {
  return `dashboard-${crypto.getRandomValues(new BigUint64Array(2)).join('-')}`
}
