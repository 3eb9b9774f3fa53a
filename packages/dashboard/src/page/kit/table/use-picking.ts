import { useMemo, useState } from 'react'
import type { Picking } from './table-row.tsx'

export function usePicking(): Picking {
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set())
  return useMemo(() => ({ picked, set: (keys) => setPicked(new Set(keys)) }), [picked])
}
