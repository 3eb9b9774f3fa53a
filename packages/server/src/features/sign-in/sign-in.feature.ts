import { defineFeature, mount } from '../feature.ts'
import { signInHandlers } from './sign-in.routes.ts'
import { createSignIn, type SignInDeps } from './sign-in.service.ts'

type SignInFeatureDeps = Omit<SignInDeps, 'count' | 'admit'> & {
  admission: { take: SignInDeps['admit'] }
}

/** Signing in and registering. */
export function signInFeature(deps: SignInFeatureDeps) {
  const counters = { auth_success_total: 0, auth_failure_total: 0 }
  const signIn = createSignIn({
    ...deps,
    admit: deps.admission.take,
    count: (outcome) => {
      counters[`auth_${outcome}_total`] += 1
    },
  })
  return defineFeature({
    routes: mount({ signIn: signInHandlers(signIn, deps.sessions.accessTtlSec) }),
    counters: () => ({ ...counters }),
  })
}
