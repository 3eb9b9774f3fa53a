import { defineCheck, rule } from '../../database/checks/check.ts'

const results = `SELECT tournament_id, COUNT(*) AS results FROM tournament_results
  GROUP BY tournament_id`
const snapshots = `SELECT tournament_id, COUNT(*) AS records FROM tournament_snapshots
  GROUP BY tournament_id`

/** Rows of one tournament have one sort: one of each pair orders, and the other is null. */
const order = ['score', 'subscore']
  .map(
    (column) => `CASE WHEN t.settled_sort = 'asc' THEN r.${column} END,
      CASE WHEN t.settled_sort = 'desc' THEN r.${column} END DESC`,
  )
  .join(', ')

export const tournamentsCheck = defineCheck('tournaments', {
  tables: ['tournaments', 'tournament_entries', 'tournament_snapshots', 'tournament_results'],
  rules: [
    rule('tournaments.states', {
      rule: 'a tournament has one of the six states',
      text: `SELECT id FROM tournaments WHERE state NOT IN
        ('draft', 'registration_open', 'running', 'finalizing', 'completed', 'cancelled')`,
    }),
    rule('tournaments.schedule', {
      rule: 'registration opens and closes, then the tournament starts and ends',
      text: `SELECT id FROM tournaments
        WHERE registration_opens_at_unix_ms > registration_closes_at_unix_ms
          OR registration_closes_at_unix_ms > starts_at_unix_ms
          OR starts_at_unix_ms > ends_at_unix_ms`,
    }),
    rule('tournaments.settled', {
      rule: 'what it was settled by is known exactly from finalizing on',
      text: `SELECT id FROM tournaments
        WHERE CASE WHEN state IN ('finalizing', 'completed')
          THEN settled_epoch_due_at_unix_ms IS NULL OR settled_records IS NULL
            OR (settled_sort IS NULL AND settled_records > 0)
          ELSE settled_epoch_due_at_unix_ms IS NOT NULL OR settled_records IS NOT NULL
            OR settled_sort IS NOT NULL END`,
    }),
    rule('tournaments.results', {
      rule: 'a completed tournament, and no other, has a result for each record of its snapshot',
      text: `SELECT t.id FROM tournaments t LEFT JOIN (${results}) AS r ON r.tournament_id = t.id
        WHERE COALESCE(r.results, 0) <>
          CASE WHEN t.state = 'completed' THEN COALESCE(t.settled_records, 0) ELSE 0 END`,
    }),
    rule('tournaments.entrants', {
      rule: 'results and snapshots are of entrants',
      text: `SELECT DISTINCT r.tournament_id AS id FROM (
          SELECT tournament_id, user_id FROM tournament_results
          UNION ALL SELECT tournament_id, user_id FROM tournament_snapshots) AS r
        WHERE NOT EXISTS (SELECT 1 FROM tournament_entries e
          WHERE e.tournament_id = r.tournament_id AND e.user_id = r.user_id)`,
    }),
    rule('tournaments.ranks', {
      rule: 'ranks are 1 to n in the order of the board',
      text: `SELECT DISTINCT p.tournament_id AS id FROM (
          SELECT r.tournament_id, r.rank, ROW_NUMBER() OVER (
            PARTITION BY r.tournament_id ORDER BY ${order}, r.user_id) AS place
          FROM tournament_results r JOIN tournaments t ON t.id = r.tournament_id) AS p
        WHERE p.rank <> p.place`,
    }),
    rule('tournaments.snapshots', {
      rule: 'a snapshot is there exactly while the tournament is finalizing',
      text: `SELECT t.id FROM tournaments t LEFT JOIN (${snapshots}) AS s ON s.tournament_id = t.id
        WHERE COALESCE(s.records, 0) <>
          CASE WHEN t.state = 'finalizing' THEN COALESCE(t.settled_records, 0) ELSE 0 END`,
    }),
  ],
})
