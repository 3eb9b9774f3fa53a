import type { FailureCause } from './log/handler-failure.ts'

/** How a call ended. `lost` means that its worker is gone, or was never there. */
export type Outcome =
  | { readonly status: 'ok'; readonly reply: Uint8Array }
  | { readonly status: 'error' | 'timed_out'; readonly cause?: FailureCause | undefined }
  | { readonly status: 'too_large' | 'lost' }
  | { readonly status: 'failed_with_text'; readonly text: string }
