import type { BindingHost } from './binding-host.ts'

/** Tournaments: who takes part is the script's to say, everything else is read. */
export function createTournamentBindings(host: BindingHost) {
  const ask = (name: string, args: readonly unknown[]) => host.ask(`tournaments.${name}`, args)
  const functions = {
    list: () => ask('list', []),
    get: (id: unknown) => ask('get', [id]),
    register: (id: unknown, user_id: unknown) => ask('register', [id, user_id]),
    entries: (id: unknown) => ask('entries', [id]),
    results: (id: unknown) => ask('results', [id]),
  }
  for (const fn of Object.values(functions)) Object.freeze(fn)
  return functions
}
